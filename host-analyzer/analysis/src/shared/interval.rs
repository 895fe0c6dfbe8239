//! The tokens: from the end of one `llama_decode` call to the end of the next.

use std::collections::HashMap;

use super::phase::{Phase, Phases};
use profinfer_trace::model::{GraphCallId, Layer, LlamaCallId, Model};

/// The time attributed to one `llama_decode` call.
#[derive(Debug, Clone)]
pub(crate) struct Interval {
    pub(crate) call: LlamaCallId,
    pub(crate) phase: Phase,
    /// ns. For a generating call, the end of the process's previous call, so that sampling is
    /// included; otherwise its own start.
    pub(crate) start: u64,
    /// End of the process's previous call, ns; `None` for its first one.
    pub(crate) before: Option<u64>,
    /// Start of the call, ns.
    pub(crate) entry: u64,
    /// End of the call, ns.
    pub(crate) end: u64,
    /// Backend calls in it, by start.
    pub(crate) graphs: Vec<GraphCallId>,
}

/// The intervals of successful calls, process by process, by end. Intervals of a process do not
/// overlap.
pub(crate) fn intervals(model: &Model, phases: &Phases) -> Vec<Interval> {
    let d = &model.llama_calls;
    let mut graphs: Vec<Vec<GraphCallId>> = vec![Vec::new(); d.len()];
    let calls = &model.graph_calls;
    for i in 0..calls.len() {
        if let (Layer::Backend, Some(decode), Ok(id)) = (calls.layer[i], calls.decode[i], u32::try_from(i)) {
            graphs[decode.0 as usize].push(GraphCallId(id));
        }
    }
    let end = |i: usize| d.start_ns[i].saturating_add(d.duration_ns[i]);
    let pid = |i: usize| model.threads.get(d.thread[i]).pid;
    let mut order: Vec<usize> = (0..d.len()).collect();
    order.sort_by_key(|i| (pid(*i), end(*i)));
    let mut last_end: HashMap<u32, u64> = HashMap::new();
    let mut found = Vec::with_capacity(d.len());
    for i in order {
        let before = last_end.insert(pid(i), end(i));
        if d.status[i] != 0 {
            continue;
        }
        let entry = before.map_or(d.start_ns[i], |b| d.start_ns[i].max(b));
        let start = match (phases.llama_calls[i], before) {
            (phase, Some(before)) if phase.generates() => before,
            _ => entry,
        };
        found.push(Interval {
            call: LlamaCallId(u32::try_from(i).unwrap_or(u32::MAX)),
            phase: phases.llama_calls[i],
            start,
            before,
            entry,
            end: end(i),
            graphs: std::mem::take(&mut graphs[i]),
        });
    }
    found
}
