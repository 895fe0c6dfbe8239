//! Other backends than the CPU's, which may compute on their own while the engine goes on.

use super::Case;
use crate::shared::housekeeping::OfThreads;
use profinfer_trace::model::{GraphCallId, Layer};

/// The function that waits for them.
const SYNCHRONIZE: &str = "ggml_backend_sched_synchronize";

impl Case<'_> {
    /// The engine waits for such a backend.
    pub(in crate::findings) fn waits_for_backends(&self) -> bool {
        OfThreads::waits(self.model).of_process(self.pid)
    }

    /// Whether there are none, or the waits for them were recorded.
    pub(in crate::findings) fn knows_waits_for_backends(&self) -> bool {
        let calls = &self.model.graph_calls;
        let own = |i: &usize| {
            calls.layer[*i] == Layer::Backend && self.model.threads.get(calls.thread[*i]).pid == self.pid
        };
        let on_cpu = |i: usize| self.model.computes_on_cpu(GraphCallId(i as u32));
        let mut probes = self.model.session.probes.iter();
        probes.any(|p| p.pid == self.pid && p.attached && p.symbol == SYNCHRONIZE)
            || (0..calls.len()).filter(own).all(on_cpu)
    }
}
