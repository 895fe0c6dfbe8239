//! Calls before which the engine shifted a context: it dropped cells of a full cache, and the others
//! got lower positions.
//!
//! A separate graph at the beginning of the next call rotates the keys to their new positions. It has
//! a few nodes per layer.

use std::collections::HashMap;

use profinfer_trace::model::{GraphCallId, Layer, Model};

/// A graph with less than this part of the nodes of its context's largest graph computes no tokens.
const SMALL: u32 = 2;

/// By row of `llama_calls`.
pub(crate) fn shifts(model: &Model) -> Vec<bool> {
    shift_graphs(model).iter().map(Option::is_some).collect()
}

/// By row of `llama_calls`: the graph that rotates the keys, of the scheduler's layer.
pub(crate) fn shift_graphs(model: &Model) -> Vec<Option<GraphCallId>> {
    let (calls, graphs) = (&model.llama_calls, &model.graph_calls);
    // Number of graphs, and nodes and row of the smallest.
    let mut of_call = vec![(0_u32, (u32::MAX, 0_usize)); calls.len()];
    let mut largest: HashMap<(u32, u64), u32> = HashMap::new();
    let context = |i: usize| (model.threads.get(calls.thread[i]).pid, calls.context[i]);
    for i in (0..graphs.len()).filter(|i| graphs.layer[*i] == Layer::Scheduler) {
        let (Some(call), nodes) = (graphs.decode[i], graphs.n_nodes[i]) else { continue };
        let call = call.0 as usize;
        let (count, least) = of_call[call];
        of_call[call] = (count + 1, least.min((nodes, i)));
        let most = largest.entry(context(call)).or_default();
        *most = (*most).max(nodes);
    }
    let shifted = |(i, (count, (least, row))): (usize, (u32, (u32, usize)))| {
        let most = largest.get(&context(i)).copied().unwrap_or(0);
        (count > 1 && least < most / SMALL).then_some(GraphCallId(row as u32))
    };
    of_call.into_iter().enumerate().map(shifted).collect()
}
