//! Large topologies: they come in parts, with calls of graphs in between.

use std::ops::Range;

use profinfer_agent::bpf::ring::{Event, Graph, Head, WalkFailure};
use profinfer_trace::model::NodeIdx;

use crate::engine::{T, chain};
use crate::run::{Run, TID, graph, head, sorted, spans};

const END: Head = Head { arg: 0, ..head(TID) };

impl Run {
    fn begin(&mut self, key: u64, nodes: usize) {
        self.event(&Event::Topology(head(TID), key, u32::try_from(nodes).unwrap()));
    }

    fn nodes(&mut self, key: u64, nodes: &[T], range: Range<usize>) {
        (0..)
            .zip(nodes)
            .skip(range.start)
            .take(range.len())
            .for_each(|(i, t)| self.tensor(head(TID), key, i, t));
    }

    /// The call of a graph of which only a part was sent, with one operator.
    fn unfinished(&mut self, start_ns: u64, node: &T) {
        let call = Graph { unknown: Some(WalkFailure::Unfinished), ..graph(head(TID), start_ns, 0) };
        self.graph(call);
        self.op(head(TID), start_ns, (node.address, node.address), (start_ns + 1, start_ns + 2));
        self.graph(Graph { end_ns: start_ns + 9, ..call });
    }

    fn end(&mut self, key: u64) {
        self.event(&Event::TopologyEnd(END, key, 1));
    }
}

/// Between its parts, other topologies come completely, and a leaf and a node come again.
#[test]
fn a_topology_may_come_in_parts() {
    let mut run = Run::new();
    let (large, small) = (chain(0x1000, "large", 100), chain(0x9_0000, "small", 3));
    run.begin(1, 100);
    run.tensor(head(TID), 1, u32::MAX, &large.1[0]);
    run.nodes(1, &large.0, 0..40);
    run.unfinished(1000, &large.0[0]);
    run.topology(head(TID), 2, &small);
    let expected = [run.compute(head(TID), 2000, 2, &small.0)];
    run.tensor(head(TID), 1, u32::MAX, &large.1[0]);
    run.tensor(head(TID), 1, u32::MAX, &large.0[39]);
    run.nodes(1, &large.0, 40..100);
    run.unfinished(3000, &large.0[0]);
    run.end(1);
    let [expected] = expected;
    let expected = [expected, run.compute(head(TID), 4000, 1, &large.0)];
    assert_eq!(run.forgotten, [0; 0]);
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
    let topology = model.topologies.rows.iter().find(|t| t.n_nodes == 100).unwrap();
    assert!(topology.complete && topology.nodes.len() == 101, "{}", topology.nodes.len());
    assert_eq!(topology.nodes[40].src, [(0, NodeIdx(100)), (1, NodeIdx(39))]);
    // The calls in between are known, their operators are counted.
    assert_eq!(model.graph_calls.len(), 4);
    let ledger = model.health.ledger.unwrap();
    assert_eq!((ledger.spans_no_graph, ledger.spans_too_large), (2, 0));
}

/// As many nodes as the kernel side walks, and leafs for each third of them.
#[test]
fn the_largest_topology_is_collected() {
    let mut run = Run::new();
    let (mut nodes, _) = chain(0x1000, "n", 16_384);
    let leaf = |k: u64| chain(0x8000_0000 + 0x1000 * k, &format!("w{k}"), 0).1.remove(0);
    let leafs: Vec<T> = (0..16_384 / 3).map(leaf).collect();
    nodes.iter_mut().step_by(3).zip(&leafs).for_each(|(t, leaf)| t.src[0] = leaf.address);
    nodes.iter_mut().for_each(|t| t.src.retain(|a| *a != 0x10_1000));
    run.topology(head(TID), 1, &(nodes.clone(), leafs));
    assert_eq!(run.forgotten, [0; 0]);
    let expected = run.compute(head(TID), 1000, 1, &nodes);
    let model = run.finish();
    assert_eq!(model.topologies.rows[0].nodes.len(), 16_384 + 16_384 / 3);
    assert_eq!(spans(&model), sorted([expected]));
}

/// A topology with more tensors than the agent has memory for is not read again and again, and its
/// operators have that reason.
#[test]
fn a_topology_with_too_many_leafs_is_too_large() {
    let mut run = Run::new();
    let (nodes, leafs) = chain(0x1000, "n", 3);
    let call = |run: &mut Run, start_ns| run.compute(head(TID), start_ns, 1, &nodes);
    run.begin(1, 3);
    for k in 0..40_000 {
        run.tensor(head(TID), 1, u32::MAX, &T { address: 0x100_0000 + 0x100 * k, ..leafs[0].clone() });
    }
    run.nodes(1, &nodes, 0..3);
    run.end(1);
    call(&mut run, 1000);
    assert_eq!(run.forgotten, [0; 0]);
    // The next one has space again.
    let next = chain(0x9_0000, "next", 3);
    run.topology(head(TID), 2, &next);
    let expected = run.compute(head(TID), 2000, 2, &next.0);
    run.lower.emit_loss_reasons(1, &run.totals, profinfer_agent::link::output::Weight::Essential);
    let model = run.finish();
    assert_eq!(spans(&model), sorted([expected]));
    let ledger = model.health.ledger.unwrap();
    assert_eq!((ledger.spans_no_graph, ledger.spans_too_large), (0, 3), "{ledger:?}");
}

/// Two graphs that do not fit together: the first is completed, the second is read again.
#[test]
fn large_topologies_in_turns_do_not_drop_each_other_forever() {
    let mut run = Run::new();
    let graphs = [chain(0x1000, "a", 20_000), chain(0x4000_0000, "b", 20_000)];
    let mut sent = [0; 2];
    let mut complete = [false; 2];
    for turn in 0..40u64 {
        let (which, key) = ((turn % 2) as usize, turn % 2 + 1);
        let nodes = &graphs[which].0;
        if complete[which] {
            continue;
        }
        if sent[which] == 0 {
            run.begin(key, nodes.len());
        }
        run.nodes(key, nodes, sent[which]..sent[which] + 2500);
        sent[which] += 2500;
        if sent[which] == nodes.len() {
            run.end(key);
            complete[which] = !run.forgotten.contains(&key);
        } else {
            run.unfinished(1000 * (turn + 1), &nodes[0]);
        }
        for key in std::mem::take(&mut run.forgotten) {
            sent[key as usize - 1] = 0;
        }
        if complete == [true; 2] {
            break;
        }
    }
    assert_eq!(complete, [true; 2]);
    run.finish();
}

/// Prompts whose graphs are computed once leave their parts behind.
#[test]
fn abandoned_parts_make_room() {
    let mut run = Run::new();
    let once: Vec<_> = (0..7u64).map(|k| chain(0x1000_0000 * (k + 1), "p", 3000)).collect();
    for (key, (nodes, _)) in (10..).zip(&once) {
        run.begin(key, 20_000);
        run.nodes(key, nodes, 0..3000);
        run.unfinished(1000 * key, &nodes[0]);
    }
    let (nodes, leafs) = chain(0x1000, "n", 15_000);
    run.begin(1, 15_000);
    run.tensor(head(TID), 1, u32::MAX, &leafs[0]);
    for part in 0..6 {
        run.nodes(1, &nodes, 2500 * part..2500 * (part + 1));
        run.unfinished(100_000 + 1000 * part as u64, &nodes[0]);
    }
    run.end(1);
    assert!(!run.forgotten.contains(&1), "{:?}", run.forgotten);
    let expected = run.compute(head(TID), 1_000_000, 1, &nodes);
    assert_eq!(spans(&run.finish()), sorted([expected]));
}

/// The kernel side ends a topology that the agent has dropped.
#[test]
fn the_end_of_a_dropped_topology_makes_the_kernel_side_begin_again() {
    let mut run = Run::new();
    run.end(7);
    assert_eq!(run.forgotten, [7]);
    run.finish();
}
