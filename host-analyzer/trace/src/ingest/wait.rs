//! Waits at the barrier, computed from the time after a span.
//!
//! The wait after a span lasts until the thread's next span of the same call, or until the call's
//! end. If records were lost, this holds only between two nodes without another executed node
//! between them.

use crate::model::{Ends, Model, NodeIdx, Text, Topology, TopologyId, WAIT_UNKNOWN};

/// Fills the column, ns. `lossy`: spans may be missing.
pub(super) fn fill(model: &mut Model, lossy: bool) {
    // Without ends, the wait is a part of the work and unknown.
    if model.capture.ends == Ends::None {
        return;
    }
    let mut next = Vec::new();
    if lossy {
        let idle = idle(model);
        next.extend(model.topologies.rows.iter().map(|s| next_run(s, &idle)));
    }
    let cpu = model.texts.find("CPU");
    let (calls, spans) = (&model.graph_calls, &mut model.spans);
    for i in 0..spans.len() {
        let (call, thread, after) = (spans.graph_call[i], spans.thread[i], i + 1);
        let row = call.0 as usize;
        // One thread hands operators to other backends one after another, so no thread waits at a
        // barrier. If the backend's name was lost, this is unknown.
        if Some(calls.backend[row]) != cpu {
            if calls.backend[row] != Text::default() {
                spans.wait_ns[i] = 0;
            }
            continue;
        }
        let same = after < spans.len() && spans.graph_call[after] == call && spans.thread[after] == thread;
        let to = same.then(|| spans.node[after]);
        if lossy && !adjacent(&next, calls.topology[row], spans.last_node[i], to) {
            continue;
        }
        let until = match same {
            true => spans.start_ns[after],
            false => calls.start_ns[row].saturating_add(calls.duration_ns[row]),
        };
        let end = spans.start_ns[i].saturating_add(spans.work_ns[i]);
        if let Some(wait) = until.checked_sub(end) {
            spans.wait_ns[i] = u32::try_from(wait).unwrap_or(WAIT_UNKNOWN - 1).min(WAIT_UNKNOWN - 1);
        }
    }
}

/// Whether no executed node is between `from` and `to`, or the end of the graph.
fn adjacent(next: &[Vec<u32>], topology: Option<TopologyId>, from: NodeIdx, to: Option<NodeIdx>) -> bool {
    let Some(next) = topology.and_then(|s| next.get(s.0 as usize)) else { return false };
    let Some(&first) = next.get(from.0 as usize + 1) else { return false };
    match to {
        Some(to) => to > from && first >= to.0,
        None => next.last() == Some(&first),
    }
}

/// For each node, and for the end of the graph, the first executed node from there on.
fn next_run(topology: &Topology, idle: &[bool]) -> Vec<u32> {
    let mut next = vec![topology.n_nodes; topology.n_nodes as usize + 1];
    for i in (0..topology.n_nodes).rev() {
        let at = i as usize;
        next[at] = if idle[topology.nodes[at].op.index()] { next[at + 1] } else { i };
    }
    next
}

/// By text: whether it is an operator that is not executed because it only describes memory.
/// Engines of 2024 and earlier execute these too, so an operator that was ever executed does not
/// count.
fn idle(model: &Model) -> Vec<bool> {
    let mut idle = vec![false; model.texts.len()];
    for op in ["NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"] {
        if let Some(text) = model.texts.find(op) {
            idle[text.index()] = true;
        }
    }
    for (call, node) in model.spans.graph_call.iter().zip(&model.spans.node) {
        if let Some(topology) = model.graph_calls.topology[call.0 as usize] {
            idle[model.topologies.get(topology).node(*node).op.index()] = false;
        }
    }
    idle
}
