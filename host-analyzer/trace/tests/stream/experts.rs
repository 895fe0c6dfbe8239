//! Routers' selections: each expert arrives at its position, in whatever order and pieces. What
//! contradicts the topology of its graph is damage and no row.

use profinfer_analysis::Analysis;
use profinfer_trace::model::expert::SKIPPED;
use profinfer_trace::model::{DamageKind, ExpertLedger, Level, Model};
use proptest::prelude::*;

use crate::{read, write_views};
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::random::Random;
use profinfer_trace::test_support::records::{self, CallIds, Record, Run, expert_batch, expert_loss};
use profinfer_trace::test_support::truth::{Call, Decode, Tensor, Topology};

const PID: u32 = 500;
const N_EXPERT: u32 = 6;
const N_USED: u32 = 2;
const N_TOKENS: u32 = 4;

fn tensor(name: &str, op: &'static str, ne: [u64; 4], src: Vec<(u8, u32)>) -> Tensor {
    Tensor { name: name.to_owned(), op, dtype: "f32", role: 0, ne, bytes: 48, view_of: None, src }
}

fn indices(name: &str, ne: [u64; 4]) -> Tensor {
    Tensor { dtype: "i32", ..tensor(name, "VIEW", ne, vec![]) }
}

/// Ids, two readers of them, a plain product, other ids and their reader, a reader whose ids are
/// missing; then weights.
fn topology() -> Topology {
    let ids = [N_USED.into(), N_TOKENS.into(), 1, 1];
    let weights = [4, 2, N_EXPERT.into(), 1];
    let tensors = vec![
        indices("ffn_moe_topk-0", ids),
        tensor("ffn_moe_gate-0", "MUL_MAT_ID", [2, 2, 4, 1], vec![(0, 7), (1, 0), (2, 0)]),
        tensor("ffn_moe_down-0", "MUL_MAT_ID", [2, 2, 4, 1], vec![(0, 7), (1, 1), (2, 0)]),
        tensor("ffn_out-0", "MUL_MAT", [2, 4, 1, 1], vec![(0, 7), (1, 2), (2, 0)]),
        indices("ffn_moe_topk-1", ids),
        tensor("ffn_moe_gate-1", "MUL_MAT_ID", [2, 2, 4, 1], vec![(0, 7), (1, 3), (2, 4)]),
        tensor("ffn_moe_gate-2", "MUL_MAT_ID", [2, 2, 4, 1], vec![(0, 7), (1, 3)]),
        tensor("blk.0.ffn_gate_exps.weight", "NONE", weights, vec![]),
    ];
    Topology { n_nodes: 7, tensors }
}

/// One prefill call whose graph is number 1 and has the topology above.
fn session(middle: &[Record]) -> Vec<Record> {
    let texts = ["", "VIEW", "MUL_MAT_ID", "MUL_MAT", "NONE", "f32", "i32"];
    let topology = topology();
    let mut names: Vec<&str> = texts.to_vec();
    names.extend(topology.tensors.iter().map(|t| t.name.as_str()));
    let ids = |s: &str| names.iter().position(|n| *n == s).map_or(0, |i| i as u32);
    let decode = Decode { start: 2_000, duration: 900, tid: PID, context: 16, n_tokens: N_TOKENS, status: 0 };
    let call = Call {
        start: 2_010,
        duration: 800,
        scheduler: false,
        topology: Some(0),
        n_nodes: 7,
        n_tokens: N_TOKENS,
        tid: PID,
        decode: Some(2_000),
        parent: None,
    };
    let at = CallIds { id: 1, pid: PID, topology: 1, backend: 0, decode: 1, parent: 0 };
    let levels = Fields::default().uint(1).text("").text("").text("").text("").text("").uint(4).uint(15);
    let mut all = vec![(0x01, levels.uint(1_000).uint(0).0), records::thread(PID, PID, "engine")];
    all.extend((1..).zip(&names[1..]).map(|(id, name)| records::text(id, name)));
    all.push(records::topology(1, PID, &topology));
    all.push(records::tensors(1, 0, &topology.tensors, &ids));
    all.extend(middle.iter().cloned());
    all.push(records::graph_call(at, &call));
    all.push(records::decode(1, PID, &decode, Some(N_TOKENS)));
    all.push(records::end(9_000, 0, all.len() as u32));
    all
}

fn model_of(all: &[Record]) -> Model {
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    let model = read(&bytes, 11).unwrap();
    crate::hostile::promises(&model);
    write_views(&model);
    model
}

fn model(middle: &[Record]) -> Model {
    model_of(&session(middle))
}

/// The table: call, node, token, rank, expert.
fn rows(m: &Model) -> Vec<(u32, u32, u32, u32, u32)> {
    let e = &m.experts;
    (0..e.len()).map(|i| (e.graph_call[i].0, e.node[i].0, e.token[i], e.rank[i], e.expert[i])).collect()
}

fn damage(m: &Model) -> Vec<(DamageKind, u64)> {
    m.health.damage.iter().map(|d| (d.kind, d.count)).collect()
}

fn run(node: u32, first: u32, experts: &[u32]) -> Run {
    Run { node, n_used: N_USED, first, experts: experts.to_vec() }
}

/// A complete selection.
const WHOLE: [u32; 8] = [0, 1, 2, 3, 5, 4, 1, 0];

#[test]
fn selections_arrive_in_any_order_and_pieces() {
    let told = expert_loss(8_000, [16, 16, 0, 0, 0, 0]);
    let first = model(&[
        expert_batch(1, 1, &[run(5, 0, &WHOLE), run(1, 0, &WHOLE[..3])]),
        expert_batch(1, 1, &[run(1, 3, &WHOLE[3..])]),
        told.clone(),
    ]);
    assert_eq!(damage(&first), []);
    assert_eq!(first.session.levels, [Level::Token, Level::Graph, Level::Op, Level::Expert]);
    let of = |node| {
        (0..4).flat_map(move |t| (0..2).map(move |r| (0, node, t, r, WHOLE[t as usize * 2 + r as usize])))
    };
    let want: Vec<_> = of(1).chain(of(5)).collect();
    assert_eq!((rows(&first), first.experts.missing), (want.clone(), 0));
    assert_eq!(
        first.health.experts,
        Some(ExpertLedger { at_ns: 8_000, chosen: 16, sent: 16, received: 16, ..Default::default() })
    );
    assert!(Analysis::compute(&first).health.perfect, "{:?}", Analysis::compute(&first).health.remarks);
    // Records in the opposite order, one position each.
    let mut pieces: Vec<Record> = vec![told];
    for node in [5, 1] {
        pieces.extend((0..8).rev().map(|p| expert_batch(1, 1, &[run(node, p, &WHOLE[p as usize..][..1])])));
    }
    let mut all = session(&pieces);
    let last = all.len() - 1;
    all[1..last].reverse();
    let reversed = model_of(&all);
    assert_eq!((rows(&reversed), damage(&reversed)), (want, vec![]));
}

#[test]
fn any_reader_of_a_selection_means_the_first() {
    let second = model(&[expert_batch(1, 1, &[run(2, 0, &[3, 4])])]);
    assert_eq!(rows(&second), [(0, 1, 0, 0, 3), (0, 1, 0, 1, 4)]);
}

#[test]
fn positions_that_came_twice_are_kept_once() {
    let same = model(&[expert_batch(1, 1, &[run(1, 0, &[3, 4]), run(1, 1, &[4, 5])])]);
    assert_eq!(
        (rows(&same), damage(&same)),
        (vec![(0, 1, 0, 0, 3), (0, 1, 0, 1, 4), (0, 1, 1, 0, 5)], vec![])
    );
    // Two that contradict each other: nothing shows which one is true.
    let contrary = model(&[expert_batch(1, 1, &[run(1, 0, &[3, 4]), run(1, 1, &[2, 5])])]);
    assert_eq!(rows(&contrary), [(0, 1, 0, 0, 3), (0, 1, 1, 0, 5)]);
    assert_eq!(damage(&contrary), [(DamageKind::Unresolved, 2)]);
}

#[test]
fn what_the_topology_does_not_bear_out_is_damage() {
    let cases: [(u32, Run, u64); 10] = [
        // A product that reads no ids, a view, a reader whose ids did not come, a leaf, no node at
        // all.
        (1, run(3, 0, &[1, 2]), 2),
        (1, run(0, 0, &[1]), 1),
        (1, run(6, 0, &[1]), 1),
        (1, run(7, 0, &[1]), 1),
        (1, run(u32::MAX, 0, &[1]), 1),
        // An expert that does not exist; a token after the last; another number of experts; a call
        // that never came.
        (1, run(1, 0, &[1, N_EXPERT]), 1),
        (1, run(1, 7, &[1, 2]), 1),
        (1, Run { node: 1, n_used: 3, first: 0, experts: vec![1, 2, 3] }, 3),
        (9, run(1, 0, &[1, 2]), 2),
        (1, run(1, u32::MAX - 1, &[1]), 1),
    ];
    for (graph, run, lost) in cases {
        let kept = run.experts.len() as u64 - lost;
        let m = model(&[expert_batch(graph, 1, std::slice::from_ref(&run))]);
        assert_eq!(damage(&m), [(DamageKind::Unresolved, lost)], "{run:?}");
        assert_eq!(m.experts.len() as u64, kept, "{run:?}");
        assert!(!Analysis::compute(&m).health.perfect);
    }
}

#[test]
fn a_skipped_position_is_one_without_an_expert() {
    let mut some = WHOLE.to_vec();
    (some[2], some[5]) = (SKIPPED, SKIPPED);
    let m = model(&[expert_batch(1, 1, &[run(1, 0, &some)])]);
    assert_eq!((m.experts.missing, damage(&m)), (16 - some.len() as u64, vec![]));
    assert_eq!(m.experts.expert, some);
    let whole = &Analysis::compute(&m).expert[0].whole;
    assert_eq!((whole.batches, whole.left_out, whole.uses), (1, 0, some.len() as u64 - 2));
}

#[test]
fn what_never_came_is_counted() {
    let m = model(&[expert_batch(1, 1, &[run(1, 0, &WHOLE[..5])]), expert_loss(1, [16, 5, 8, 3, 0, 0])]);
    assert_eq!(m.experts.missing, 16 - 5);
    let analysis = Analysis::compute(&m);
    assert_eq!(analysis.health.experts.map(|e| (e.kept, e.missing, e.unaccounted)), Some((5, 11, Some(0))));
    assert_eq!(
        (analysis.expert.len(), analysis.expert[0].whole.left_out, analysis.expert[0].whole.uses),
        (1, 1, 0)
    );
    // A call without any selection counts nothing as missing: it may have run where there is no
    // probe.
    assert_eq!(model(&[]).experts.missing, 0);
}

#[test]
fn batches_that_are_not_such() {
    // Two announced runs, of which one is there; a huge count; no experts per token; a position
    // after the largest.
    let whole = Fields::default().int(1).uint(2).uint(0).uint(1).uint(3);
    for (count, bytes, kept) in [
        (2, whole.clone(), 1),
        (1, Fields::default().int(1).uint(2).uint(0).uint(u32::MAX.into()).uint(3), 0),
        (1, Fields::default().int(1).uint(0).uint(0).uint(1).uint(3), 0),
        (1, Fields::default().int(1).uint(2).uint(u32::MAX.into()).uint(1).uint(3), 0),
        (1, Fields::default().int(-1).uint(2).uint(0).uint(1).uint(3), 0),
        (u64::from(u16::MAX), whole, 1),
    ] {
        let m = model(&[(0x40, Fields::default().uint(1).uint(1).uint(count).bytes(&bytes.0).0)]);
        assert_eq!((damage(&m), m.experts.len()), (vec![(DamageKind::Malformed, 1)], kept));
    }
    let largest = model(&[expert_loss(u64::MAX, [u64::MAX; 6])]);
    assert!(!Analysis::compute(&largest).health.perfect);
}

/// Topologies that claim more than there is: the tables grow with the stream.
#[test]
fn huge_topologies() {
    for (n_expert, n_used, n_tokens) in [
        (u64::MAX, 2, 4),
        (1 << 40, 2, 4),
        (6, u64::MAX, 4),
        (6, 2, u64::MAX),
        (1_024, 1_024, u64::from(u32::MAX)),
        (0, 0, 0),
    ] {
        let mut topology = topology();
        topology.tensors[0].ne = [n_used, n_tokens, 1, 1];
        topology.tensors[7].ne[2] = n_expert;
        let mut all = session(&[expert_batch(1, 1, &[run(1, 0, &[1, 2])])]);
        let names: Vec<String> = all
            .iter()
            .filter(|(kind, _)| *kind == 0x02)
            .map(|(_, payload)| String::from_utf8_lossy(&payload[2..]).into_owned())
            .collect();
        let ids = |s: &str| names.iter().position(|n| n == s).map_or(0, |i| i as u32 + 1);
        let at = all.iter().position(|(kind, _)| *kind == 0x21).unwrap();
        all[at] = records::tensors(1, 0, &topology.tensors, &ids);
        model_of(&all);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Runs of any contents: no panic, and the rows are as the model promises.
    #[test]
    fn any_runs(seed in any::<u64>(), n in 1_usize..40) {
        let mut random = Random(seed | 1);
        let runs: Vec<Run> = (0..n).map(|_| {
            let experts = (0..random.below(9)).map(|_| random.below(8) as u32).collect();
            Run { node: random.below(9) as u32, n_used: 1 + random.below(3) as u32, first: random.below(10) as u32, experts }
        }).collect();
        let sent: usize = runs.iter().map(|r| r.experts.len()).sum();
        let m = model(&[expert_batch(1 + random.below(2) as u32, 1, &runs)]);
        prop_assert!(m.experts.len() <= sent);
        let all = rows(&m);
        prop_assert!(all.windows(2).all(|w| (w[0].0, w[0].1, w[0].2, w[0].3) < (w[1].0, w[1].1, w[1].2, w[1].3)));
        for (_, node, token, rank, expert) in all {
            prop_assert!([1, 5].contains(&node) && token < N_TOKENS && rank < N_USED && expert < N_EXPERT);
        }
    }
}
