//! Nested calls and splits: functions of other backends.

use profinfer_agent::bpf::backend_function::FUNCTIONS;
use profinfer_agent::bpf::ring::{Graph, Head, Nested};

use crate::engine::chain;
use crate::run::{Run, TID, graph, head, sorted, spans, tid};

/// First bytes of Vulkan's GUID.
const VULKAN: u64 = 0x02e1_3c40_864f_f7b8;

fn call(
    tid: u32,
    (slot, depth): (u32, u32),
    node: u64,
    graph: u64,
    (start_ns, end_ns): (u64, u64),
) -> Nested {
    Nested { head: Head { arg: slot | depth << 16, ..head(tid) }, start_ns, end_ns, node, graph }
}

#[test]
fn nested_calls_have_their_operator_function_and_depth() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 3));
    run.topology(head(TID), 1, &topology);
    let mut expected = Vec::new();
    for start_ns in [1000, 2000] {
        let start = graph(head(TID), start_ns, 1);
        run.graph(start);
        // The inner one ends first.
        for (worker, slot, depth, node, at, length) in
            [(TID, 1, 1, 1, 20, 5), (TID, 0, 0, 1, 10, 30), (TID + 1, 1, 0, 2, 50, 9)]
        {
            let at = start_ns + at;
            let address = topology.0[node].address;
            run.nested_call(call(worker, (slot, depth), address, start_ns, (at, at + length)));
            let function = FUNCTIONS[slot as usize];
            let names = (function.symbol.to_owned(), function.backend().to_string());
            expected.push((start_ns, worker, topology.0[node].name.clone(), names, depth, at, length));
        }
        run.graph(Graph { end_ns: start_ns + 100, ..start });
    }
    let model = run.finish();
    let n = &model.nested_calls;
    let text = |t| model.texts.get(t).to_owned();
    let mut received: Vec<_> = (0..n.len())
        .map(|i| {
            let call = n.graph_call[i].0 as usize;
            let topology = model.topologies.get(model.graph_calls.topology[call].unwrap());
            let names = (text(n.function[i]), text(n.backend[i]));
            let name = text(topology.node(n.node[i]).name);
            let depth = u32::from(n.depth[i]);
            let start_ns = model.graph_calls.start_ns[call];
            (start_ns, tid(&model, n.thread[i]), name, names, depth, n.start_ns[i], n.duration_ns[i])
        })
        .collect();
    received.sort();
    expected.sort();
    assert_eq!(received, expected);
}

#[test]
fn unresolved_calls_are_counted() {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 3));
    run.topology(head(TID), 1, &topology);
    let start = graph(head(TID), 1000, 1);
    run.graph(start);
    // Unknown function, unknown node, unknown call, a start before its graph, an end before its
    // start.
    for (slot, node, graph, times) in [
        (500, 0x1000, 1000, (1010, 1020)),
        (0, 0xbad, 1000, (1010, 1020)),
        (0, 0x1000, 1001, (1010, 1020)),
        (0, 0x1000, 1000, (900, 1020)),
        (0, 0x1000, 1000, (1020, 1010)),
    ] {
        run.nested_call(call(TID, (slot, 0), node, graph, times));
    }
    run.nested_call(call(TID, (0, 0), 0x1000, 1000, (1010, 1020)));
    let ends_with_the_session = run;
    let model = ends_with_the_session.finish();
    let ledger = model.health.nested.unwrap();
    assert_eq!((ledger.ends, ledger.sent, ledger.no_graph, ledger.no_start), (6, 0, 5, 1));
}

/// A split of another backend ends when its scheduler continues: with the next split, or at its own
/// end.
#[test]
fn a_split_ends_where_the_scheduler_goes_on() {
    let (mut run, on_gpu, on_cpu) = (Run::new(), chain(0x1000, "gpu", 2), chain(0x5000, "cpu", 2));
    run.topology(head(TID), 1, &on_gpu);
    run.topology(head(TID), 2, &on_cpu);
    let scheduler = Graph { head: Head { arg: 0, ..head(TID) }, ..graph(head(TID), 1000, 0) };
    run.graph(scheduler);
    let split = |start_ns| Graph { backend: VULKAN, n_nodes: 2, ..graph(head(TID), start_ns, 1) };
    run.graph(split(1010));
    run.op(head(TID), 1010, (0x1000, 0x1000), (1012, 1015));
    let on_cpu = run.compute(head(TID), 1020, 2, &on_cpu.0);
    run.graph(split(1100));
    run.graph(Graph { end_ns: 1200, ..scheduler });
    let model = run.finish();
    let g = &model.graph_calls;
    assert_eq!(g.start_ns, [1000, 1010, 1020, 1100]);
    assert_eq!(g.duration_ns, [200, 10, 40, 100]);
    let backends: Vec<&str> = g.backend.iter().map(|b| model.texts.get(*b)).collect();
    assert_eq!(backends, ["", "Vulkan", "CPU", "Vulkan"]);
    let gpu = vec![(1010, TID, "gpu-0".to_owned(), "gpu-0".to_owned(), 1012, 3)];
    assert_eq!(spans(&model), sorted([gpu, on_cpu]));
}
