//! Invariants of every session, checked against sums computed differently: over maps, span by span.

use std::collections::BTreeMap;

use profinfer_analysis::Analysis;
use profinfer_analysis::phase::Phase;
use profinfer_schema::{Dag, Summary};
use profinfer_trace::model::{Model, WAIT_UNKNOWN};
use profinfer_views::{dag, summary};
use proptest::prelude::*;

use crate::views::bytes;

use crate::models::rows::spec;
use profinfer_trace::test_support::tables::model;

/// Wall, work and wait of every execution, by graph call and node.
fn executions(m: &Model) -> BTreeMap<(u32, u32), (u64, u64, u64)> {
    let mut ends: BTreeMap<(u32, u32), (u64, u64, u64, u64)> = BTreeMap::new();
    let s = &m.spans;
    for i in 0..s.len() {
        let (start, end) = (s.start_ns[i], s.start_ns[i] + s.work_ns[i]);
        let wait = if s.wait_ns[i] == WAIT_UNKNOWN { 0 } else { u64::from(s.wait_ns[i]) };
        let e = ends.entry((s.graph_call[i].0, s.node[i].0)).or_insert((u64::MAX, 0, 0, 0));
        *e = (e.0.min(start), e.1.max(end), e.2 + s.work_ns[i], e.3 + wait);
    }
    ends.into_iter().map(|(k, (start, end, work, wait))| (k, (end - start, work, wait))).collect()
}

fn phase(m: &Model, graph_call: u32) -> Phase {
    let decode = m.graph_calls.decode[graph_call as usize].unwrap();
    if m.llama_calls.n_tokens[decode.0 as usize] == 1 { Phase::Decode } else { Phase::Prefill }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn operators_fit_into_graphs_and_graphs_into_calls(spec in spec()) {
        let m = model(&spec);
        let calls = Analysis::compute(&m).token.calls;
        prop_assert_eq!(calls.len() as u32, spec.contexts * spec.requests * (spec.tokens + 1));
        for c in calls {
            prop_assert!(c.op_wall_ns.unwrap() > 0);
            prop_assert!(c.op_wall_ns.unwrap() <= c.graph_ns.unwrap());
            prop_assert!(c.graph_ns.unwrap() <= c.duration_ns);
        }
    }

    /// Above all, no figure is infinite or not a number: JSON has neither.
    #[test]
    fn what_is_written_is_of_the_schema(spec in spec()) {
        let m = model(&spec);
        let read = serde_json::from_slice::<Summary>(&bytes(summary::summary, &m));
        prop_assert!(read.is_ok(), "{:?}", read);
        let read = serde_json::from_slice::<Dag>(&bytes(dag::dag, &m));
        prop_assert!(read.is_ok(), "{:?}", read);
    }

    #[test]
    fn sums_are_the_same_by_type_by_operator_by_graph_and_by_thread(spec in spec()) {
        let m = model(&spec);
        let a = Analysis::compute(&m);
        let executions = executions(&m);
        for p in Phase::ALL {
            let want = executions.iter().filter(|((call, _), _)| phase(&m, *call) == p).fold(
                (0, 0, 0, 0),
                |s, (_, e)| (s.0 + 1, s.1 + e.0, s.2 + e.1, s.3 + e.2),
            );
            let types = a.op.types.iter().filter(|t| t.phase == p).fold((0, 0, 0, 0), |s, t| {
                (s.0 + t.executions, s.1 + t.wall_ns, s.2 + t.work_ns, s.3 + t.wait_ns.unwrap())
            });
            let operators = a.op.operators.iter().filter(|o| o.phase == p).fold((0, 0, 0, 0), |s, o| {
                (s.0 + o.executions, s.1 + o.wall_ns, s.2 + o.work_ns, s.3 + o.wait_ns.unwrap())
            });
            prop_assert_eq!(types, want);
            prop_assert_eq!(operators, want);
            prop_assert_eq!(a.op.wall_ns[p.index()], want.1);
            let (work, wait) = a.thread.iter().fold((0, 0), |s, t| match p {
                Phase::Prefill => (s.0 + t.prefill_work_ns, s.1 + t.prefill_wait_ns.unwrap()),
                Phase::Decode => (s.0 + t.decode_work_ns, s.1 + t.decode_wait_ns.unwrap()),
                Phase::BatchDecode => (s.0 + t.batch_decode_work_ns, s.1 + t.batch_decode_wait_ns.unwrap()),
                _ => s,
            });
            prop_assert_eq!((work, wait), (want.2, want.3));
            // Shares of a phase that has operators add up to one.
            let share: f64 = a.op.operators.iter().filter(|o| o.phase == p).map(|o| o.share).sum();
            prop_assert!(want.1 == 0 || (share - 1.0).abs() < 1e-9);
        }
        prop_assert_eq!(a.thread.iter().map(|t| t.spans).sum::<u64>(), m.spans.len() as u64);
    }

    #[test]
    fn percentiles_are_those_of_sorted_walls(spec in spec()) {
        let m = model(&spec);
        let mut walls: BTreeMap<(Phase, u64, String, u32), Vec<u64>> = BTreeMap::new();
        for ((call, node), (wall, ..)) in executions(&m) {
            let topology = m.topologies.get(m.graph_calls.topology[call as usize].unwrap());
            let name = m.texts.get(topology.nodes[node as usize].name).to_owned();
            let context = m.llama_calls.context[m.graph_calls.decode[call as usize].unwrap().0 as usize];
            let op = topology.nodes[node as usize].op;
            let same = |n: &&profinfer_trace::model::Node| n.op == op && m.texts.get(n.name) == name;
            let nth = topology.nodes[..=node as usize].iter().filter(same).count() as u32;
            let key = (phase(&m, call), context, name + m.texts.get(op), nth);
            walls.entry(key).or_default().push(wall);
        }
        let operators = Analysis::compute(&m).op.operators;
        prop_assert_eq!(operators.len(), walls.len());
        for o in operators {
            let context = u64::from_str_radix(&o.context.unwrap()[2..], 16).unwrap();
            let mut v = walls.remove(&(o.phase, context, o.name + &o.op, o.nth)).unwrap();
            v.sort_unstable();
            let rank = |p: f64| v[(p * v.len() as f64).ceil() as usize - 1];
            prop_assert_eq!((o.median_ns, o.p95_ns), (Some(rank(0.5)), Some(rank(0.95))));
            prop_assert_eq!(o.executions, v.len() as u64);
        }
    }

    #[test]
    fn every_part_of_every_context_has_its_graph(spec in spec()) {
        let m = model(&spec);
        let dags = Analysis::compute(&m).dag;
        let phases = if spec.tokens == 0 { 1 } else { 2 };
        prop_assert_eq!(dags.len() as u32, spec.contexts * spec.splits * phases);
        for d in &dags {
            let topology = m.topologies.get(profinfer_trace::model::TopologyId(d.topology));
            prop_assert_eq!(d.nodes.len(), topology.nodes.len());
            prop_assert_eq!(d.edges.len(), topology.nodes.iter().map(|n| n.src.len()).sum::<usize>());
            // A node runs, is fused into one that runs, or is a view.
            for n in &d.nodes[..d.n_nodes as usize] {
                let view = matches!(n.op.as_str(), "RESHAPE" | "PERMUTE");
                prop_assert_eq!(u32::from(n.order.is_some()) + u32::from(n.fused_with.is_some()), u32::from(!view));
            }
            // Threads run nodes in the engine's order.
            let mut order: Vec<_> = d.nodes.iter().filter_map(|n| Some((n.order?, n.index))).collect();
            order.sort_unstable();
            prop_assert!(order.is_sorted_by_key(|o| o.1));
            prop_assert!(order.iter().map(|o| o.0).eq(0..order.len() as u32));
        }
    }
}
