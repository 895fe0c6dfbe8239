//! Length of the session, and where its processes begin to compute.

use profinfer_trace::model::Model;

/// From the start of the session to the end of the last recorded event, ns.
#[must_use]
pub fn duration_ns(model: &Model) -> u64 {
    let ends = |starts: &[u64], lengths: &[u64]| {
        starts.iter().zip(lengths).map(|(s, l)| s.saturating_add(*l)).max().unwrap_or(0)
    };
    let calls = ends(&model.llama_calls.start_ns, &model.llama_calls.duration_ns);
    let graphs = ends(&model.graph_calls.start_ns, &model.graph_calls.duration_ns);
    let ledger = model.health.ledger.map_or(0, |l| l.at_ns);
    let gauges = model.gauges.iter().filter_map(|g| g.at_ns.last()).copied().max().unwrap_or(0);
    // Spans are inside graph calls.
    calls.max(graphs).max(ledger).max(gauges).saturating_sub(model.session.start_ns)
}

/// The first call of a process after its exec.
pub(crate) fn first_call(model: &Model, pid: u32, exec_ns: u64) -> Option<usize> {
    let calls = &model.llama_calls;
    let own = |i: &usize| model.threads.get(calls.thread[*i]).pid == pid && calls.start_ns[*i] >= exec_ns;
    (0..calls.len()).find(own)
}
