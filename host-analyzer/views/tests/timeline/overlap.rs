//! Models unlike any healthy recording: calls and operators that overlap without nesting.

use profinfer_analysis::track::{Edge, Slice, TrackKind, tracks};
use profinfer_trace::model::{
    DecodeFunction, GraphCallId, Layer, Model, Node, NodeIdx, Role, SpanId, Text, ThreadId, Topology,
    TopologyId,
};
use proptest::prelude::*;

/// Start and length of calls and work, and waits, all in one thread.
pub(crate) fn model(calls: &[(u64, u64)], spans: &[(u64, u64, u32)]) -> Model {
    let mut m = Model::default();
    let thread = m.threads.find_or_add(7);
    let name = m.texts.intern("t");
    m.threads.describe(thread, 7, name);
    let op = m.texts.intern("MUL_MAT");
    let node = Node {
        name,
        op,
        desc: op,
        dtype: name,
        role: Role::Node,
        ne: [1; 4],
        bytes: 0,
        address: 0,
        data: 0,
        buffer: None,
        view_of: None,
        src: Vec::new(),
    };
    m.topologies.rows.push(Topology { pid: 7, n_nodes: 1, nodes: vec![node], complete: true });
    let mut calls = calls.to_vec();
    calls.sort();
    for (start, length) in calls {
        let d = &mut m.llama_calls;
        d.start_ns.push(start);
        d.duration_ns.push(length);
        d.function.push(DecodeFunction::LlamaDecode);
        d.thread.push(thread);
        d.context.push(1);
        d.n_tokens.push(1);
        d.status.push(0);
    }
    if !spans.is_empty() {
        let g = &mut m.graph_calls;
        g.start_ns.push(0);
        g.duration_ns.push(1);
        g.layer.push(Layer::Backend);
        g.backend.push(Text::default());
        g.topology.push(Some(TopologyId(0)));
        g.n_nodes.push(1);
        g.n_tokens.push(0);
        g.n_past.push(None);
        g.thread.push(thread);
        g.decode.push(None);
        g.parent.push(None);
    }
    let mut spans = spans.to_vec();
    spans.sort();
    for (start, work, wait) in spans {
        let s = &mut m.spans;
        s.graph_call.push(GraphCallId(0));
        s.thread.push(ThreadId(0));
        s.node.push(NodeIdx(0));
        s.last_node.push(NodeIdx(0));
        s.start_ns.push(start);
        s.work_ns.push(work);
        s.wait_ns.push(wait);
        s.cpu.push(Some(0));
        s.migrated.push(false);
    }
    m
}

#[test]
fn slices_that_overlap_get_tracks_of_their_own() {
    let m = model(
        &[(10, 10), (12, 5), (15, 20)],
        &[(50, 100, 30), (60, 10, 5), (160, 40, 0), (170, 5, u32::MAX)],
    );
    let rows: Vec<_> = tracks(&m).into_iter().map(|t| (t.kind, t.track, t.slices, t.total_ns)).collect();
    assert_eq!(
        rows,
        [
            (TrackKind::Token, "token".to_owned(), 2, 15),
            (TrackKind::Token, "token, overlapping 1".to_owned(), 1, 20),
            (TrackKind::Graph, "graph".to_owned(), 1, 1),
            // The wait from 150 to 180 precedes the work from 160 to 200, which then begins in the wait.
            (TrackKind::Thread, "t 7".to_owned(), 5, 100 + 10 + 5 + 30 + 5),
            (TrackKind::Thread, "t 7, overlapping 1".to_owned(), 1, 40),
        ]
    );
}

proptest! {
    #[test]
    fn tracks_nest_and_lose_nothing(
        calls in prop::collection::vec((0..60u64, 0..30u64), 0..30),
        spans in prop::collection::vec((0..60u64, 0..20u64, prop_oneof![Just(0), Just(u32::MAX), 1..20u32]), 0..60),
    ) {
        let m = model(&calls, &spans);
        let mut seen = Vec::new();
        // Begin and end of every slice, from `edges`.
        let mut by_edges = Vec::new();
        for track in tracks(&m) {
            let bounds: Vec<_> = track.order.iter().map(|s| s.bounds(&m)).collect();
            prop_assert_eq!(track.slices, bounds.len() as u64);
            prop_assert_eq!(track.total_ns, bounds.iter().map(|(start, end)| end - start).sum::<u64>());
            for (i, (start, end)) in bounds.iter().enumerate() {
                for (later_start, later_end) in &bounds[i + 1..] {
                    prop_assert!(later_start >= start);
                    prop_assert!(later_start >= end || later_end <= end, "{:?}", bounds);
                }
            }
            let mut open = Vec::new();
            let mut last = 0;
            for edge in track.edges(&m) {
                let (Edge::Begin(_, at) | Edge::End(_, at)) = edge;
                prop_assert!(at >= last);
                last = at;
                match edge {
                    Edge::Begin(slice, at) => open.push((slice, at)),
                    Edge::End(slice, at) => {
                        let (begun, start) = open.pop().expect("something is open");
                        prop_assert_eq!(slice, begun);
                        prop_assert_eq!(slice.bounds(&m), (start, at));
                        by_edges.push(slice);
                    }
                }
            }
            prop_assert!(open.is_empty());
            seen.extend(track.order.iter());
        }
        let mut expected: Vec<Slice> = Vec::new();
        expected.extend((0..calls.len() as u32).map(|i| Slice::Decode(profinfer_trace::model::LlamaCallId(i))));
        expected.extend((0..m.graph_calls.len() as u32).map(|i| Slice::Graph(GraphCallId(i))));
        for i in 0..spans.len() as u32 {
            expected.push(Slice::Work(SpanId(i)));
            if !matches!(m.spans.wait_ns[i as usize], 0 | u32::MAX) {
                expected.push(Slice::Barrier(SpanId(i)));
            }
        }
        let sorted = |mut slices: Vec<Slice>| {
            slices.sort_by_key(|s| format!("{s:?}"));
            slices
        };
        prop_assert_eq!(sorted(seen.clone()), sorted(expected));
        prop_assert_eq!(sorted(by_edges), sorted(seen));
    }
}
