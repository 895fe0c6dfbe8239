//! The order of events: related, missing and late ones.

use profinfer_agent::bpf::ring::{Decode, Graph, Head};
use profinfer_trace::model::{DecodeFunction, GraphCallId, Layer, LlamaCallId};
use profinfer_wire::record::graph::layer;

use crate::engine::{GET_ROWS, chain};
use crate::run::{PID, Run, TID, decode_call, graph, head, sorted, spans, tid};

const DECODE: Decode = decode_call(head(TID), 100, -1);

fn scheduler(start_ns: u64, end_ns: u64) -> Graph {
    let arg = layer::SCHEDULER.into();
    Graph {
        head: Head { arg, ..head(TID) },
        end_ns,
        first_op: GET_ROWS,
        first_ne1: 3,
        n_nodes: 4,
        ..graph(head(TID), start_ns, 0)
    }
}

#[test]
fn a_token_has_its_graphs_and_operators() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 4));
    run.topology(head(TID), 9, &topology);
    run.decode(DECODE);
    run.graph(scheduler(110, 0));
    let call =
        Graph { n_nodes: 4, first_op: GET_ROWS, first_ne1: 3, n_past: Some(17), ..graph(head(TID), 120, 9) };
    run.graph(call);
    let mut expected = Vec::new();
    for (k, t) in (0u64..).zip(&topology.0) {
        for (worker, late) in [(TID, 0), (TID + 1, 3)] {
            let at = 130 + 10 * k + late;
            // On CPU 2, or moved from 1 to 2.
            let arg = if worker == TID { 2 | 2 << 16 } else { 1 | 2 << 16 };
            run.op(Head { arg, ..head(worker) }, 120, (t.address, t.address), (at, at + 4));
            expected.push((120, worker, t.name.clone(), t.name.clone(), at, 4));
        }
    }
    run.graph(Graph { end_ns: 180, n_nodes: 0, ..call });
    run.graph(scheduler(110, 190));
    run.decode(Decode { end_ns: 200, status: 1, ..DECODE });
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    let migrated: Vec<bool> = (0..8).map(|i| model.spans.migrated[i]).collect();
    assert_eq!(migrated, [false, false, false, false, true, true, true, true]);
    assert!(model.spans.cpu.iter().all(|cpu| *cpu == Some(2)));
    let d = &model.llama_calls;
    assert_eq!((d.start_ns[0], d.duration_ns[0], d.context[0], d.status[0]), (100, 100, 0xc0, 1));
    assert_eq!(
        (d.n_tokens[0], d.function[0], tid(&model, d.thread[0])),
        (3, DecodeFunction::LlamaDecode, TID)
    );
    let g = &model.graph_calls;
    assert_eq!((g.layer[0], g.layer[1]), (Layer::Scheduler, Layer::Backend));
    assert_eq!((g.start_ns[0], g.duration_ns[0], g.start_ns[1], g.duration_ns[1]), (110, 80, 120, 60));
    assert_eq!(
        (g.parent[1], g.decode[0], g.decode[1]),
        (Some(GraphCallId(0)), Some(LlamaCallId(0)), Some(LlamaCallId(0)))
    );
    assert_eq!((g.n_nodes[1], g.n_tokens[1], g.n_past[1], g.n_past[0]), (4, 3, Some(17), None));
    assert_eq!((model.texts.get(g.backend[1]), model.texts.get(g.backend[0])), ("CPU", ""));
    assert!(model.health.ledger.unwrap().spans_sent == 8 && model.health.damage.is_empty());
}

/// On some engines, direct probes provide no CPU: then it is unknown whether the thread migrated.
#[test]
fn a_missing_cpu_is_unknown() {
    const NONE: u32 = 0xffff;
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 4));
    run.topology(head(TID), 9, &topology);
    let call = Graph { n_nodes: 4, ..graph(head(TID), 120, 9) };
    run.graph(call);
    for (at, t, arg) in [(130, 0, NONE | NONE << 16), (140, 1, NONE | 2 << 16), (150, 2, 2 | NONE << 16)] {
        let address = topology.0[t].address;
        run.op(Head { arg, ..head(TID) }, 120, (address, address), (at, at + 4));
    }
    run.graph(Graph { end_ns: 180, ..call });
    let model = run.finish();
    assert_eq!(model.spans.cpu, [None, Some(2), None]);
    assert_eq!(model.spans.migrated, [false; 3]);
}

#[test]
fn levels_that_are_not_requested_are_not_sent() {
    for (levels, llama_calls, graphs) in [("token", 1, 0), ("graph", 0, 2), ("op", 0, 1)] {
        let mut run = Run::of_levels(levels);
        run.process(PID);
        run.decode(DECODE);
        run.graph(scheduler(110, 0));
        run.graph(graph(head(TID), 120, 0));
        run.graph(Graph { end_ns: 180, ..graph(head(TID), 120, 0) });
        run.graph(scheduler(110, 190));
        run.decode(Decode { end_ns: 200, ..DECODE });
        let model = run.finish();
        assert_eq!((model.llama_calls.len(), model.graph_calls.len()), (llama_calls, graphs), "{levels}");
    }
}

#[test]
fn late_operators_are_counted_not_guessed() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 2));
    run.topology(head(TID), 9, &topology);
    let expected = run.compute(head(TID), 100, 9, &topology.0);
    // Of an ended call, of one that never began, of none.
    for call in [100, 999, 0] {
        run.op(head(TID + 1), call, (0x1000, 0x1000), (112, 115));
    }
    // An end before its start.
    run.graph(graph(head(TID), 500, 9));
    run.op(head(TID), 500, (0x1000, 0x1000), (530, 520));
    run.graph(Graph { end_ns: 600, ..graph(head(TID), 500, 9) });
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    let ledger = model.health.ledger.unwrap();
    assert_eq!((ledger.spans_sent, ledger.spans_no_graph), (2, 4));
}

#[test]
fn a_lost_start_leaves_the_call_and_loses_its_operators() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 2));
    run.topology(head(TID), 9, &topology);
    run.op(head(TID), 100, (0x1000, 0x1000), (110, 115));
    run.graph(Graph { end_ns: 150, ..graph(head(TID), 100, 9) });
    run.decode(Decode { start_ns: 90, end_ns: 160, n_tokens: 5, ..DECODE });
    let model = run.finish();
    let g = &model.graph_calls;
    assert_eq!((g.len(), g.start_ns[0], g.duration_ns[0], g.n_nodes[0]), (1, 100, 50, 0));
    assert_eq!((model.llama_calls.duration_ns[0], model.llama_calls.n_tokens[0]), (70, 5));
    assert_eq!((model.spans.len(), model.health.ledger.unwrap().spans_no_graph), (0, 1));
}

#[test]
fn a_lost_end_costs_that_graph_alone() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 3));
    run.topology(head(TID), 9, &topology);
    run.graph(graph(head(TID), 100, 9));
    run.op(head(TID), 100, (0x1000, 0x1000), (110, 115));
    let expected = run.compute(head(TID), 200, 9, &topology.0);
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    // At the edge of the session, like a running one.
    assert_eq!(model.health.ledger.unwrap().spans_no_start, 1);
    assert_eq!(model.graph_calls.len(), 1);
}

#[test]
fn a_session_may_end_in_the_middle_of_a_graph() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 3));
    run.topology(head(TID), 9, &topology);
    let expected = run.compute(head(TID), 100, 9, &topology.0);
    run.decode(Decode { start_ns: 190, ..DECODE });
    run.graph(graph(head(TID), 200, 9));
    for worker in [TID, TID + 1] {
        run.op(head(worker), 200, (0x1000, 0x1000), (210, 215));
        run.op(head(worker), 200, (0x1100, 0x1100), (220, 225));
    }
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    let ledger = model.health.ledger.unwrap();
    assert_eq!((ledger.span_ends, ledger.spans_sent, ledger.spans_no_start), (7, 3, 4));
    assert_eq!(model.llama_calls.len(), 0);
}

#[test]
fn a_call_that_the_agent_stopped_begins_when_it_resumes() {
    let mut run = Run::new();
    run.decode(DECODE);
    run.lower.resumed(TID, 140);
    run.decode(Decode { end_ns: 200, ..DECODE });
    run.decode(Decode { start_ns: 300, ..DECODE });
    run.decode(Decode { start_ns: 300, end_ns: 310, ..DECODE });
    let model = run.finish();
    assert_eq!(model.llama_calls.start_ns, [140, 300]);
    assert_eq!(model.llama_calls.duration_ns, [60, 10]);
}
