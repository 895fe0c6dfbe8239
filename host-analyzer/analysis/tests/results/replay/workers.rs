//! Engines without OpenMP may start new threads for each graph. In a call without captured operators these
//! are threads that were never seen computing.

use profinfer_analysis::Analysis;
use profinfer_analysis::replay::Cause;
use profinfer_trace::model::{GraphCallId, Model, Sched, ThreadId, ThreadState};

use super::insert::{add_state, add_stop, delay_from};
use super::{COMPLETE, recording, sums_are_exact};
use crate::models::duty::thin;

/// Gives each graph call a new second thread. Returns these threads by graph call.
fn new_workers(m: &mut Model) -> Vec<Option<ThreadId>> {
    let mut workers = vec![None; m.graph_calls.len()];
    let calls: Vec<_> = m.spans.by_call().collect();
    for (call, rows) in calls {
        let caller = m.graph_calls.thread[call.0 as usize];
        let thread = m.threads.get(caller);
        let worker = m.threads.find_or_add(1_000_000 + call.0);
        m.threads.describe(worker, thread.pid, thread.name);
        for i in rows.filter(|i| m.spans.thread[*i] != caller).collect::<Vec<_>>() {
            m.spans.thread[i] = worker;
        }
        workers[call.0 as usize] = Some(worker);
    }
    workers
}

#[test]
fn a_worker_that_was_never_captured_delays_its_call() {
    const NS: u64 = 200_000_000;
    for name in COMPLETE {
        let mut m = recording(name);
        m.sched = Sched::default();
        let workers = new_workers(&mut m);
        let half = m.llama_calls.len() / 2;
        thin(&mut m, std::slice::from_ref(&(0..half)));
        let graphs = (0..m.graph_calls.len()).rev();
        let later = |g: &usize| m.graph_calls.decode[*g].is_some_and(|call| call.0 as usize >= half);
        let mut cost = 0;
        for graph in graphs.filter(later).collect::<Vec<_>>() {
            let (Some(worker), (start, end)) =
                (workers[graph], m.graph_calls.bounds(GraphCallId(graph as u32)))
            else {
                continue;
            };
            let at = u64::midpoint(start, end);
            delay_from(&mut m, at, NS);
            add_stop(&mut m, worker, at, NS);
            add_state(&mut m, worker, start + 1, 10, ThreadState::Running);
            cost += NS;
        }
        assert!(cost > 0, "{name}");
        sums_are_exact(&m);
        let a = Analysis::compute(&m);
        let found: u64 = a.replay.calls.iter().map(|c| c.caused.get(Cause::Stopped)).sum();
        assert!(found.abs_diff(cost) * 20 < cost, "{name}: {found} instead of {cost}");
    }
}
