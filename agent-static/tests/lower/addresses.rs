//! Addresses are reused: by the next graph, by a longer one, by another process. A span's node
//! belongs to its own graph.

use profinfer_agent::bpf::ring::{Graph, Head};

use crate::engine::{MUL_MAT, chain, tensor};
use crate::run::{PID, Run, TID, decode_call, graph, head, sorted, spans};

#[test]
fn graphs_that_alternate_at_the_same_addresses() {
    let mut run = Run::new();
    let (prefill, decode) = (chain(0x1000, "prefill", 5), chain(0x1000, "decode", 3));
    run.topology(head(TID), 1, &prefill);
    run.topology(head(TID), 2, &decode);
    let mut expected = Vec::new();
    for round in 0..4 {
        let start_ns = 1000 * (round + 1);
        expected.push(match round % 2 {
            0 => run.compute(head(TID), start_ns, 1, &prefill.0),
            _ => run.compute(head(TID), start_ns, 2, &decode.0),
        });
    }
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
    assert_eq!(model.topologies.rows.len(), 2);
    assert_eq!(model.health.ledger.unwrap().spans_no_graph, 0);
}

#[test]
fn an_address_of_the_previous_graph_only_is_no_node() {
    let mut run = Run::new();
    let (long, short) = (chain(0x1000, "long", 5), chain(0x1000, "short", 2));
    run.topology(head(TID), 1, &long);
    run.topology(head(TID), 2, &short);
    let expected = run.compute(head(TID), 1000, 1, &long.0);
    run.graph(graph(head(TID), 2000, 2));
    run.op(head(TID), 2000, (0x1400, 0x1400), (2010, 2015));
    run.graph(Graph { end_ns: 2100, ..graph(head(TID), 2000, 2) });
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    assert_eq!(model.health.ledger.unwrap().spans_no_graph, 1);
}

/// The context grows: the same graph with one more node, and all nodes moved up by one.
#[test]
fn a_graph_that_grows() {
    let mut run = Run::new();
    let mut expected = Vec::new();
    for n in 1..6u64 {
        let grown = chain(0x1000 - 0x100 * n, &format!("of {n}"), 2 + n);
        run.topology(head(TID), n, &grown);
        expected.push(run.compute(head(TID), 1000 * n, n, &grown.0));
    }
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
}

/// Threads run nodes in order, but skip views, and an engine may place its nodes anywhere.
#[test]
fn nodes_far_apart_and_in_any_order_of_addresses() {
    let mut run = Run::new();
    let address = |k: u64| 0x1000 + 0x100 * (k * 7 % 31);
    let nodes: Vec<_> = (0..31).map(|k| tensor(address(k), &format!("n-{k}"), MUL_MAT, &[])).collect();
    let all = (nodes.clone(), vec![]);
    run.topology(head(TID), 1, &all);
    let every_sixth: Vec<_> = nodes.iter().step_by(6).cloned().collect();
    let expected = [run.compute(head(TID), 1000, 1, &nodes), run.compute(head(TID), 2000, 1, &every_sixth)];
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
}

#[test]
fn fused_nodes_have_a_first_and_a_last() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 4));
    run.topology(head(TID), 1, &topology);
    run.graph(graph(head(TID), 100, 1));
    run.op(head(TID), 100, (0x1100, 0x1300), (110, 130));
    // The last node before the first: from another graph.
    run.op(head(TID), 100, (0x1300, 0x1100), (140, 150));
    run.graph(Graph { end_ns: 200, ..graph(head(TID), 100, 1) });
    let model = run.finish();
    assert_eq!(spans(&model), [(100, TID, "n-1".to_owned(), "n-3".to_owned(), 110, 20)]);
    assert_eq!(model.health.ledger.unwrap().spans_no_graph, 1);
}

/// The same program twice: equal addresses, equal keys of calls, at the same time.
#[test]
fn two_processes_with_equal_addresses() {
    const OTHER: u32 = PID + 100;
    let mut run = Run::new();
    run.process(OTHER);
    let theirs = Head { tid: OTHER + 1, tgid: OTHER, arg: 1 };
    let (a, b) = (chain(0x1000, "a", 3), chain(0x1000, "b", 3));
    run.topology(head(TID), 1, &a);
    run.topology(theirs, 2, &b);
    let mut expected = Vec::new();
    let call = |head, key| Graph { n_nodes: 3, ..graph(head, 1000, key) };
    run.graph(call(head(TID), 1));
    run.graph(call(theirs, 2));
    for (k, (one, two)) in a.0.iter().zip(&b.0).enumerate() {
        let at = 1010 + 10 * k as u64;
        run.op(theirs, 1000, (two.address, two.address), (at, at + 5));
        run.op(head(TID), 1000, (one.address, one.address), (at, at + 5));
        expected.push((1000, TID, one.name.clone(), one.name.clone(), at, 5));
        expected.push((1000, theirs.tid, two.name.clone(), two.name.clone(), at, 5));
    }
    run.graph(Graph { end_ns: 1100, ..call(theirs, 2) });
    run.graph(Graph { end_ns: 1100, ..call(head(TID), 1) });
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    let mut pids: Vec<u32> = model.topologies.rows.iter().map(|t| t.pid).collect();
    pids.sort_unstable();
    assert_eq!(pids, [PID, OTHER]);
}

/// A thread's id is reused by a thread of another process. Its calls do not belong to the dead
/// thread.
#[test]
fn a_reused_thread_id() {
    const OTHER: u32 = PID + 100;
    let mut run = Run::new();
    run.process(OTHER);
    let theirs = Head { tid: TID, tgid: OTHER, arg: 1 };
    let (a, b) = (chain(0x1000, "a", 3), chain(0x1000, "b", 3));
    run.topology(head(TID), 1, &a);
    // Killed within its call.
    run.decode(decode_call(head(TID), 100, 1));
    run.graph(Graph { head: Head { arg: 0, ..head(TID) }, ..graph(head(TID), 110, 0) });
    run.graph(graph(head(TID), 120, 1));
    run.op(head(TID), 120, (0x1000, 0x1000), (130, 135));
    run.topology(theirs, 2, &b);
    let expected = run.compute(theirs, 1000, 2, &b.0);
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    let g = &model.graph_calls;
    assert_eq!((g.len(), g.decode[0], g.parent[0]), (1, None, None));
    assert_eq!(model.threads.get(g.thread[0]).pid, OTHER);
    assert_eq!(model.health.ledger.unwrap().spans_no_start, 1);
}
