//! A slow link: dropped data is counted, and sent data arrives.

use profinfer_agent::bpf::ring::Graph;

use crate::engine::chain;
use crate::run::{Run, TID, graph, head, spans};

#[test]
fn a_full_queue_counts_dropped_spans() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 40));
    run.topology(head(TID), 1, &topology);
    let before = run.compute(head(TID), 1000, 1, &topology.0);
    run.lower.emit.flush();
    run.close_link(true);
    let mut sent = before.len();
    // A queue holds a megabyte, of which spans may not use a quarter.
    for round in 0..6000u64 {
        sent += run.compute(head(TID), 1_000_000 * (round + 1), 1, &topology.0).len();
    }
    run.close_link(false);
    run.lower.emit.flush();
    let start_ns = 1_000_000_000_000;
    let after = run.compute(head(TID), start_ns, 1, &topology.0);
    sent += after.len();
    let model = run.finish();
    let ledger = model.health.ledger.unwrap();
    assert_eq!(ledger.span_ends, sent as u64);
    assert!(ledger.spans_queue_full > 0 && ledger.frames_queue_full > 0 && ledger.bytes_queue_full > 0);
    assert_eq!(ledger.spans_sent + ledger.spans_queue_full, sent as u64);
    let arrived = spans(&model);
    assert_eq!(arrived.len() as u64, ledger.spans_sent);
    assert!(before.iter().chain(&after).all(|s| arrived.binary_search(s).is_ok()));
    // Calls, to which spans refer, were not dropped.
    assert_eq!(model.graph_calls.len(), 6002);
}

#[test]
fn many_spans_of_one_graph_come_in_several_batches() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 2000));
    run.topology(head(TID), 1, &topology);
    let start = graph(head(TID), 1000, 1);
    run.graph(start);
    let mut expected = Vec::new();
    for (k, t) in (0u64..).zip(&topology.0) {
        for worker in [TID, TID + 1, TID + 2] {
            let at = 2000 + 1000 * k;
            run.op(head(worker), 1000, (t.address, t.address), (at, at + 700));
            expected.push((1000, worker, t.name.clone(), t.name.clone(), at, 700));
        }
    }
    run.graph(Graph { end_ns: 3_000_000, ..start });
    expected.sort();
    let model = run.finish();
    assert_eq!(spans(&model), expected);
}
