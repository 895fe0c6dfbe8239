//! The graphs of the calls.

use super::Case;
use profinfer_trace::model::Layer;

impl Case<'_> {
    /// Number of graphs that the engine computed in each call, by row of `llama_calls`.
    pub(in crate::findings) fn graphs_of_calls(&self) -> Vec<u64> {
        let graphs = &self.model.graph_calls;
        let mut counts = vec![0; self.model.llama_calls.len()];
        for i in (0..graphs.len()).filter(|i| graphs.layer[*i] == Layer::Scheduler) {
            if let Some(call) = graphs.decode[i] {
                counts[call.0 as usize] += 1;
            }
        }
        counts
    }
}
