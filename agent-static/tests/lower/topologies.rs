//! Topologies: read from an engine's memory, sent once, dropped if there are too many.

use profinfer_agent::bpf::ring::{Event, Graph, Head};
use profinfer_trace::model::{NodeIdx, Role, Topology};

use crate::engine::{ADD, GET_ROWS, I32, NONE, Q8_0, UNARY, chain, tensor};
use crate::run::{Run, TID, graph, head, sorted, spans};

#[test]
fn tensors_are_read_by_the_layout() {
    let mut run = Run::new();
    let mut leafs = vec![
        tensor(0x9000, "blk.0.w.weight", NONE, &[]),
        tensor(0x9100, "cache_k_l0", NONE, &[]),
        tensor(0x9200, "inp_tokens", NONE, &[]),
        tensor(0x9300, "odd", NONE, &[]),
        tensor(0x9400, "elsewhere", NONE, &[]),
    ];
    (leafs[0].dtype, leafs[0].ne, leafs[0].buffer, leafs[0].data) = (Q8_0, [64, 3, 1, 1], 77, 0xd000);
    leafs[1].ne = [8, 8, 2, 1];
    (leafs[2].flags, leafs[2].dtype) = (1, I32);
    // In the buffer of the weights.
    leafs[3].buffer = 77;
    leafs[4].dtype = 99;
    let mut nodes = vec![
        tensor(0x1000, "embd", GET_ROWS, &[0x9000, 0x9200]),
        tensor(0x1100, "act", UNARY, &[0x1000]),
        tensor(0x1200, "view", ADD, &[0x1100, 0x9300, 0, 0x9100]),
        tensor(0x1300, "strange", 1000, &[0x9400, 0xdead]),
    ];
    nodes[1].parameter = 1;
    nodes[2].view_src = 0x1100;
    run.topology(head(TID), 1, &(nodes, leafs));
    let model = run.finish();
    let [topology] = &*model.topologies.rows else { panic!("{:?}", model.topologies) };
    assert_eq!((topology.n_nodes, topology.nodes.len(), topology.complete), (4, 9, true));
    let text = |t| model.texts.get(t);
    let of = |name: &str| topology.nodes.iter().find(|n| text(n.name) == name).unwrap();
    let ops: Vec<_> = topology.nodes[..4].iter().map(|n| (text(n.op), text(n.desc))).collect();
    assert_eq!(ops, [("GET_ROWS", "GET_ROWS"), ("UNARY", "SILU"), ("ADD", "ADD"), ("op 1000", "op 1000")]);
    let weight = of("blk.0.w.weight");
    assert_eq!(
        (text(weight.dtype), weight.bytes, weight.data, weight.address),
        ("q8_0", 6 * 34, 0xd000, 0x9000)
    );
    assert_eq!((of("embd").bytes, of("embd").ne, text(of("embd").dtype)), (64 * 2 * 4, [64, 2, 1, 1], "f32"));
    assert_eq!((of("elsewhere").bytes, text(of("elsewhere").dtype)), (0, "type 99"));
    let roles =
        ["embd", "blk.0.w.weight", "cache_k_l0", "inp_tokens", "odd", "elsewhere"].map(|n| of(n).role);
    assert_eq!(roles, [Role::Node, Role::Weight, Role::Cache, Role::Input, Role::Weight, Role::Other]);
    let named = |n: &[(u8, NodeIdx)]| -> Vec<(u8, String)> {
        n.iter().map(|(slot, i)| (*slot, text(topology.node(*i).name).to_owned())).collect()
    };
    let pair = |slot, name: &str| (slot, name.to_owned());
    assert_eq!(named(&of("embd").src), [pair(0, "blk.0.w.weight"), pair(1, "inp_tokens")]);
    assert_eq!(named(&of("view").src), [pair(0, "act"), pair(1, "odd"), pair(3, "cache_k_l0")]);
    assert_eq!(of("view").view_of.map(|i| text(topology.node(i).name)), Some("act"));
    // A source that is not a tensor of the graph is ignored.
    assert_eq!(named(&of("strange").src), [pair(0, "elsewhere")]);
}

#[test]
fn a_node_among_its_own_sources_is_one_tensor() {
    let mut run = Run::new();
    let cast = tensor(0x1000, "cast", ADD, &[0x9000, 0x1000]);
    let leaf = tensor(0x9000, "x", NONE, &[]);
    // The kernel side sees it among its sources first.
    run.topology(head(TID), 1, &(vec![cast.clone()], vec![leaf, cast]));
    let model = run.finish();
    assert_eq!(model.topologies.rows[0].nodes.len(), 2);
    assert_eq!(model.topologies.rows[0].nodes[0].src, [(0, NodeIdx(1)), (1, NodeIdx(0))]);
}

#[test]
fn a_topology_larger_than_a_frame_is_sent_in_parts() {
    let mut run = Run::new();
    let large = chain(0x10_0000, "a name that is as long as names of tensors may be, more or less", 3000);
    run.topology(head(TID), 1, &large);
    let expected = run.compute(head(TID), 1000, 1, &large.0[2990..]);
    let model = run.finish();
    let topology: &Topology = &model.topologies.rows[0];
    assert!(topology.complete && topology.nodes.len() == 3001);
    let names: Vec<&str> = topology.nodes[..3000].iter().map(|n| model.texts.get(n.name)).collect();
    assert!(names.iter().zip(&large.0).all(|(name, t)| t.name.starts_with(*name) && name.len() == 63));
    let expected = expected.into_iter().map(|mut s| {
        s.2.truncate(63);
        s.3.truncate(63);
        s
    });
    assert_eq!(spans(&model), sorted([expected.collect()]));
}

#[test]
fn equal_topologies_at_other_addresses_are_sent_once() {
    let mut run = Run::new();
    let mut expected = Vec::new();
    for key in 1..4 {
        let same = chain(0x1000 * key, "n", 3);
        run.topology(head(TID), key, &same);
        expected.push(run.compute(head(TID), 1000 * key, key, &same.0));
    }
    let other = chain(0x8000, "other", 3);
    run.topology(head(TID), 9, &other);
    let model = run.finish();
    assert_eq!(model.topologies.rows.len(), 2);
    assert_eq!(spans(&model), sorted(expected));
}

/// Records of it were lost, or the kernel side gave up.
#[test]
fn an_incomplete_topology_is_dropped_and_read_again() {
    let (nodes, leafs) = chain(0x1000, "n", 3);
    for lost in 0..5 {
        let mut run = Run::new();
        run.event(&Event::Topology(head(TID), 1, 3));
        if lost != 3 {
            run.tensor(head(TID), 1, u32::MAX, &leafs[0]);
        }
        for (i, t) in (0u32..).zip(&nodes).filter(|(i, _)| *i != lost) {
            run.tensor(head(TID), 1, i, t);
        }
        let arg = u32::from(lost == 4);
        run.event(&Event::TopologyEnd(Head { arg, ..head(TID) }, 1, 1));
        // The kernel side sends leafs by their readers: a lost one only removes a source.
        let whole = lost == 3;
        assert_eq!(run.forgotten, if whole { vec![] } else { vec![1] }, "without record {lost}");
        let first = run.compute(head(TID), 1000, 1, &nodes);
        run.topology(head(TID), 1, &(nodes.clone(), leafs.clone()));
        let second = run.compute(head(TID), 2000, 1, &nodes);
        let model = run.finish();
        assert_eq!(spans(&model), if whole { sorted([first, second]) } else { sorted([second]) });
        assert_eq!(model.health.ledger.unwrap().spans_no_graph, if whole { 0 } else { 3 });
    }
}

/// Threads send topologies at the same time; each belongs to its own thread.
#[test]
fn topologies_of_two_threads_may_come_mixed() {
    let mut run = Run::new();
    let (a, b) = (chain(0x1000, "a", 3), chain(0x5000, "b", 3));
    run.event(&Event::Topology(head(TID), 1, 3));
    run.event(&Event::Topology(head(TID + 1), 2, 3));
    run.tensor(head(TID + 1), 2, u32::MAX, &b.1[0]);
    run.tensor(head(TID), 1, u32::MAX, &a.1[0]);
    for (i, (x, y)) in (0..).zip(a.0.iter().zip(&b.0)) {
        run.tensor(head(TID), 1, i, x);
        run.tensor(head(TID + 1), 2, i, y);
    }
    run.event(&Event::TopologyEnd(head_of(TID + 1), 2, 1));
    run.event(&Event::TopologyEnd(head_of(TID), 1, 1));
    let expected = [run.compute(head(TID), 1000, 1, &a.0), run.compute(head(TID + 1), 2000, 2, &b.0)];
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
}

fn head_of(tid: u32) -> Head {
    Head { arg: 0, ..head(tid) }
}

/// A graph whose topology was never read, and one of an unknown process.
#[test]
fn graphs_without_a_topology_are_sent_without_operators() {
    let mut run = Run::new();
    let unread = chain(0x1000, "n", 2);
    run.compute(head(TID), 1000, 0, &unread.0);
    run.compute(head(TID), 2000, 5, &unread.0);
    let stranger = Head { tid: 5, tgid: 4, arg: 1 };
    run.topology(stranger, 6, &unread);
    run.compute(stranger, 3000, 6, &unread.0);
    let model = run.finish();
    assert_eq!((model.graph_calls.len(), model.spans.len()), (3, 0));
    assert!(model.graph_calls.topology.iter().all(Option::is_none));
    assert_eq!(model.health.ledger.unwrap().spans_no_graph, 6);
}

#[test]
fn the_oldest_topologies_are_dropped_and_running_graphs_keep_theirs() {
    let mut run = Run::new();
    let large: Vec<_> = (0..20u64).map(|k| chain(0x100_0000 * (k + 1), &format!("g{k}"), 8000)).collect();
    run.topology(head(TID), 1, &large[0]);
    let start = graph(head(TID), 1000, 1);
    run.graph(start);
    for (key, topology) in (1..).zip(&large).skip(1) {
        run.topology(head(TID + 1), key, topology);
    }
    // 131072 tensors are 16 of 8001.
    assert_eq!(run.forgotten, [1, 2, 3, 4]);
    let first = large[0].0[0].address;
    run.op(head(TID), 1000, (first, first), (1010, 1015));
    run.graph(Graph { end_ns: 1100, ..start });
    let model = run.finish();
    assert_eq!(spans(&model), [(1000, TID, "g0-0".to_owned(), "g0-0".to_owned(), 1010, 5)]);
}

/// A server computes one model with prompts of 40 lengths.
#[test]
fn topologies_at_the_same_addresses_share_memory_and_are_all_remembered() {
    let mut run = Run::new();
    let mut expected = Vec::new();
    let (mut nodes, leafs) = chain(0x1000, "n", 8000);
    for key in 1..41 {
        nodes.iter_mut().for_each(|t| t.ne[1] = key);
        run.topology(head(TID), key, &(nodes.clone(), leafs.clone()));
    }
    assert_eq!(run.forgotten, [0; 0]);
    for key in 1..41 {
        expected.push(run.compute(head(TID), 1_000_000 * key, key, &nodes[..10]));
    }
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
    let rows =
        |call: usize| model.topologies.get(model.graph_calls.topology[call].unwrap()).nodes[7999].ne[1];
    assert_eq!((0..40).map(rows).collect::<Vec<_>>(), (1..41).collect::<Vec<_>>());
}
