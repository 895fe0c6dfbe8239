//! Figures of experts: of the small routed session by hand, of random sessions against a second,
//! naive implementation.

use std::collections::{BTreeMap, BTreeSet};

use profinfer_analysis::Analysis;
use profinfer_analysis::expert::{Figures, NotOneModel, Routing, by_layer};
use profinfer_analysis::phase::Phase;
use profinfer_trace::model::{Damage, DamageKind, Model};
use profinfer_views::expert_pins::expert_pins;
use profinfer_views::words;
use proptest::prelude::*;

use crate::models::routed::{self, CONTEXT, Chosen, Routed, SMALL, call, lose, session};
use crate::models::rows;

fn routings(m: &Model) -> Vec<Routing> {
    Analysis::compute(m).expert
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b.abs().max(1.0),
        (a, b) => a == b,
    }
}

/// Uses in decode: layer 0 has 0:{1,3,4} 1:{1,2,4} 2:{2,3}; layer 1 has 2:{1,2,3} 3:{1,2,3,4}
/// 0:{4}.
#[test]
fn small_session_by_hand() {
    let all = routings(&routed::small());
    assert_eq!(all.iter().map(|r| r.phase).collect::<Vec<_>>(), [Phase::Prefill, Phase::Decode]);
    assert!(all.iter().all(|r| r.pid == 7 && r.context.as_deref() == Some("0x5500")));
    let [prefill, decode] = &*all else { panic!() };

    let names: Vec<_> =
        decode.layers.iter().map(|l| (l.layer, l.name.as_str(), l.weights.as_str(), l.n_used)).collect();
    assert_eq!(
        names,
        [
            (Some(0), "ffn_moe_gate-0", "blk.0.ffn_gate_exps.weight", 2),
            (Some(1), "ffn_moe_gate-1", "blk.1.ffn_gate_exps.weight", 2),
        ]
    );
    let uses = |r: &Routing| r.layers.iter().map(|l| l.expert_uses.clone()).collect::<Vec<_>>();
    assert_eq!(uses(decode), [[3, 3, 2, 0], [1, 0, 3, 4]]);
    assert_eq!(uses(prefill), [[3, 2, 1, 0], [0, 0, 3, 3]]);

    // One batch of three tokens: experts 0, 1, 2 of the first layer, 2, 3 of the second; 123 B per
    // expert.
    let counts = |f: &Figures| (f.batches, f.tokens, f.uses, f.n_expert, f.never_used);
    assert_eq!(counts(&prefill.layers[0].figures), (1, 3, 6, 4, 1));
    assert_eq!(counts(&prefill.whole), (2, 6, 12, 8, 1 + 2));
    assert_eq!(prefill.whole.distinct_per_batch, Some(3.0 + 2.0));
    assert_eq!(prefill.whole.bytes_per_batch, Some(5.0 * 123.0));
    assert_eq!((&prefill.whole.reuse, words::experts::sentence(prefill)), (&None, None));
    // Three sixths, two sixths, one sixth, relative to ln 4; and two halves.
    let three: f64 = [0.5, 1.0 / 3.0, 1.0 / 6.0].iter().map(|p: &f64| -p * p.ln()).sum::<f64>() / 4f64.ln();
    assert!(close(prefill.layers[0].figures.balance, Some(three)));
    assert!(close(prefill.layers[1].figures.balance, Some(0.5)));
    assert!(close(prefill.whole.balance, Some((three + 0.5) / 2.0)));

    assert_eq!(counts(&decode.layers[1].figures), (4, 4, 8, 4, 1));
    assert_eq!(decode.layers[1].expert_bytes, Some(123));
    assert_eq!(decode.whole.distinct_per_batch, Some(4.0));
    assert_eq!(decode.whole.bytes_per_batch, Some(4.0 * 123.0));

    // Layer 0: [0 1] [1 2] [0 2] [1 0]: again 1, 2, 0; distances 1 (1); 2 new; 0 after 2, 2 after
    // 1; 1 after 2, 0 after 1.
    let reuse = decode.layers[0].figures.reuse.clone().unwrap();
    assert_eq!((reuse.uses, reuse.again, reuse.share), (6, 3, Some(0.5)));
    assert_eq!((reuse.known, reuse.never, reuse.unknown), (5, 3, 0));
    // 1 1 1 2 2: rank 3 of 5, rank 5 of 5.
    assert_eq!((reuse.median_tokens, reuse.p90_tokens), (Some(1), Some(2)));
    // Layer 1: [2 3] [3 2] [2 3] [0 3]: 2+2+1 again, 0 new.
    let reuse = decode.layers[1].figures.reuse.clone().unwrap();
    assert_eq!((reuse.uses, reuse.again, reuse.known, reuse.never), (6, 5, 5, 3));
    assert_eq!((reuse.median_tokens, reuse.p90_tokens), (Some(1), Some(1)));
    // Both: eight times 1, twice 2.
    let reuse = decode.whole.reuse.clone().unwrap();
    assert_eq!((reuse.uses, reuse.again, reuse.known, reuse.never), (12, 8, 10, 6));
    assert_eq!((reuse.median_tokens, reuse.p90_tokens), (Some(1), Some(2)));

    // Pins of two, one, two; uses are 3 3 2 0 and 4 3 1 0.
    let pins = |f: &Figures| f.pins.iter().map(|p| (p.rule, p.experts, p.bytes, p.hits)).collect::<Vec<_>>();
    assert_eq!(
        pins(&decode.layers[0].figures),
        [("n_used", 2, Some(246), 6), ("n_expert/4", 1, Some(123), 3), ("n_expert/2", 2, Some(246), 6)]
    );
    assert_eq!(
        pins(&decode.whole),
        [("n_used", 4, Some(492), 13), ("n_expert/4", 2, Some(246), 7), ("n_expert/2", 4, Some(492), 13)]
    );
    let half = &decode.whole.pins[2];
    assert_eq!((half.share, half.even_share), (Some(13.0 / 16.0), Some(0.5)));
    // The first two tokens use 1 2 1 0 and 0 0 2 2, the last two 2 1 1 0 and 1 0 1 2. Pinned are 1,
    // 0 and 2, 3; or 1 and 2.
    let ahead = |f: &Figures| f.pins.iter().map(|p| p.ahead_share.unwrap()).collect::<Vec<_>>();
    assert_eq!(ahead(&decode.layers[0].figures), [0.75, 0.25, 0.75]);
    assert_eq!(ahead(&decode.layers[1].figures), [0.75, 0.25, 0.75]);
    assert_eq!(ahead(&decode.whole), [0.75, 0.25, 0.75]);
    // One batch has no second half.
    assert_eq!((prefill.whole.pins[0].ahead_share, prefill.whole.pins[0].even_share), (None, None));
    assert_eq!(
        words::experts::sentence(decode).as_deref(),
        Some(
            "a token reads 492 B of experts' weights; 66.7 % of a token's experts are those of the previous token (by chance \
             50.0 %); the half of each layer's experts (492 B) that the first half of the tokens used most served \
             75.0 % of the uses of the second half (by chance 50.0 %)"
        )
    );
}

#[test]
fn a_lost_selection_breaks_the_chain_and_counts_nowhere() {
    let mut m = routed::small();
    // The second rank of the second token in the first layer.
    lose(&mut m, 2, 0, 1);
    let decode = &routings(&m)[1];
    let f = &decode.layers[0].figures;
    assert_eq!((f.batches, f.left_out, f.uses), (3, 1, 6));
    let reuse = f.reuse.clone().unwrap();
    // [0 1], a gap, [0 2], [1 0]: only the last has a previous token. 0 after 1; 0, 2 and 1 are
    // unknown.
    assert_eq!((reuse.uses, reuse.again, reuse.known, reuse.never, reuse.unknown), (2, 1, 1, 2, 3));
    // The other layer is unchanged.
    assert_eq!(decode.layers[1].figures, routings(&routed::small())[1].layers[1].figures);
    assert_eq!(decode.whole.left_out, 1);
    // A completely lost selection leaves the same gap.
    let mut none = routed::small();
    lose(&mut none, 2, 0, 0);
    assert_eq!(routings(&none)[1].layers[0].figures.reuse, Some(reuse));
    assert_eq!(routings(&none)[1].layers[0].figures.batches, 3);
}

#[test]
fn no_reuse_is_told_where_calls_may_be_missing() {
    let mut m = routed::small();
    m.health.damage.push(Damage { kind: DamageKind::Gap, count: 1, bytes: 0, first_offset: 70 });
    assert_eq!(routings(&m)[1].whole.reuse, None);
    let mut m = routed::small();
    m.health.ledger.as_mut().unwrap().calls_ring_full = 1;
    assert_eq!(routings(&m)[1].whole.reuse, None);
    m.health.ledger = None;
    assert_eq!(routings(&m)[1].whole.reuse, None);
    // Everything else stays.
    let want = routings(&routed::small());
    assert_eq!(routings(&m)[1].whole.pins, want[1].whole.pins);
    assert_eq!(routings(&m)[1].layers[0].expert_uses, want[1].layers[0].expert_uses);
}

/// llama.cpp warms up with all experts, so that their weights are read. Such a call is not a
/// selection by a router.
#[test]
fn a_warm_up_is_in_no_figure() {
    let mut m = session();
    let all = Routed { n_used: 4, ..SMALL };
    let everything = |tokens: usize| vec![vec![vec![0, 1, 2, 3]; tokens]; 2];
    call(&mut m, &all, CONTEXT, &everything(1));
    call(&mut m, &SMALL, CONTEXT, &vec![vec![vec![0, 1]]; 2]);
    call(&mut m, &all, CONTEXT, &everything(1));
    call(&mut m, &SMALL, CONTEXT, &vec![vec![vec![1, 2]]; 2]);
    let [decode] = &*routings(&m) else { panic!() };
    assert_eq!((decode.layers.len(), decode.whole.all_used, decode.whole.batches), (2, 4, 4));
    assert_eq!(decode.layers[0].expert_uses, [1, 2, 1, 0]);
    let reuse = decode.layers[0].figures.reuse.clone().unwrap();
    assert_eq!((reuse.uses, reuse.again, reuse.never, reuse.unknown), (2, 1, 3, 0));
}

#[test]
fn weights_of_unknown_size_have_no_bytes() {
    let mut m = routed::small();
    let weights = m.texts.find("blk.1.ffn_up_exps.weight").unwrap();
    for node in m.topologies.rows.iter_mut().flat_map(|s| &mut s.nodes).filter(|n| n.name == weights) {
        node.bytes = 0;
    }
    let decode = &routings(&m)[1];
    assert_eq!(decode.layers[0].figures.bytes_per_batch, Some(246.0));
    assert_eq!((decode.layers[1].expert_bytes, decode.layers[1].figures.bytes_per_batch), (None, None));
    assert_eq!((decode.whole.bytes_per_batch, decode.whole.pins[0].bytes), (None, None));
    assert!(words::experts::sentence(decode).as_deref().is_some_and(|s| s.starts_with("66.7 %")));
}

#[test]
fn a_model_without_routers_has_none() {
    for m in [Model::default(), crate::models::small::model(), session()] {
        let a = Analysis::compute(&m);
        assert!(a.expert.is_empty());
        let said = words::health::lines(&a.health);
        assert!(!said.iter().any(|l| l.contains("expert")), "{said:?}");
    }
}

#[test]
fn health_tells_of_every_lost_expert() {
    let lines = |m: &Model| words::health::lines(&Analysis::compute(m).health);
    assert_eq!(
        lines(&routed::small())[0],
        "complete: 5 decode calls, 28 selections of an expert, nothing lost"
    );
    let mut m = routed::small();
    lose(&mut m, 2, 0, 1);
    let health = Analysis::compute(&m).health;
    let said = words::health::lines(&health);
    assert!(
        !health.perfect
            && said[0].starts_with("dropped: 1 of 28 selections of an expert (3.57 %): the kernel")
    );
    assert!(said[1].starts_with("incomplete: 1 selections"));
    let sum = health.experts.unwrap();
    assert_eq!(
        (sum.chosen, sum.kept, sum.ledger.map(|l| l.ring_full), sum.missing, sum.unaccounted),
        (Some(28), 27, Some(1), 1, Some(0))
    );
    // Sent but not received; received but not sent; sums that do not add up; no totals.
    let with = |change: fn(&mut Model)| {
        let mut m = routed::small();
        change(&mut m);
        let health = Analysis::compute(&m).health;
        assert!(!health.perfect);
        words::health::lines(&health)[0].clone()
    };
    let first = with(|m| m.health.experts.as_mut().unwrap().received -= 2);
    assert!(first.starts_with("lost: 2 of 28 selections of an expert (7.14 %) were sent"), "{first}");
    let first = with(|m| m.health.experts.as_mut().unwrap().received += 1);
    assert!(first.starts_with("inconsistent: received more selections of experts"), "{first}");
    let first = with(|m| m.health.experts.as_mut().unwrap().chosen += 1);
    assert!(first.starts_with("inconsistent: the agent's totals of experts"), "{first}");
    let first = with(|m| m.health.experts = None);
    assert!(first.starts_with("unknown: the agent's totals of experts"), "{first}");
    for field in [
        |m: &mut Model| m.health.experts.as_mut().unwrap().unreadable = 1,
        |m: &mut Model| m.health.experts.as_mut().unwrap().no_graph = 1,
        |m: &mut Model| m.health.experts.as_mut().unwrap().queue_full = 1,
    ] {
        let line = with(field);
        assert!(line.starts_with("dropped: 1 of 28 selections of an expert"), "{line}");
    }
}

/// The selections of a session: context, and the selection of each layer.
fn sessions() -> impl Strategy<Value = (Routed, Vec<(u64, Chosen)>)> {
    (1_u32..4, 2_u32..9).prop_flat_map(|(layers, n_expert)| {
        (Just(layers), Just(n_expert), 1..n_expert).prop_flat_map(|(layers, n_expert, n_used)| {
            let token = Just((0..n_expert).collect::<Vec<u32>>()).prop_shuffle();
            let token = token.prop_map(move |t| t[..n_used as usize].to_vec());
            let tokens = prop_oneof![3 => Just(1_usize), 1 => 2_usize..5];
            let chosen = tokens.prop_flat_map(move |n| {
                let layer = prop::collection::vec(token.clone(), n);
                prop::collection::vec(layer, layers as usize)
            });
            let spec = Routed { layers, n_expert, n_used, expert_bytes: [64, 32, 7] };
            let context = prop_oneof![Just(CONTEXT), Just(CONTEXT + 16)];
            (Just(spec), prop::collection::vec((context, chosen), 1..30))
        })
    })
}

/// Uses, distinct experts per batch, and for decode the distances (`None`: first use) with the
/// number of tokens.
#[derive(Default)]
struct Naive {
    uses: BTreeMap<u32, u64>,
    distinct: Vec<usize>,
    distances: Vec<Option<usize>>,
    batches: Vec<Vec<u32>>,
}

/// Uses in the second half of the `n` experts that are most frequent in the first, one by one.
fn naive_ahead(batches: &[Vec<u32>], n_expert: u32, n: usize) -> Option<f64> {
    let (first, second) = batches.split_at(batches.len() / 2);
    let (first, second) = (first.concat(), second.concat());
    if first.is_empty() {
        return None;
    }
    let mut picked: Vec<u32> = (0..n_expert).collect();
    picked.sort_by_key(|e| (std::cmp::Reverse(first.iter().filter(|f| *f == e).count()), *e));
    Some(second.iter().filter(|e| picked[..n].contains(e)).count() as f64 / second.len() as f64)
}

fn naive(calls: &[(u64, Chosen)], phase: Phase, context: u64, layer: usize) -> Naive {
    let mut out = Naive::default();
    let decode = phase == Phase::Decode;
    let of = |c: &&(u64, Chosen)| c.0 == context && (c.1[0].len() == 1) == decode;
    let batches: Vec<Vec<u32>> = calls.iter().filter(of).map(|c| c.1[layer].concat()).collect();
    for (i, batch) in batches.iter().enumerate() {
        batch.iter().for_each(|e| *out.uses.entry(*e).or_default() += 1);
        out.distinct.push(batch.iter().collect::<BTreeSet<_>>().len());
        for e in batch.iter().filter(|_| decode) {
            out.distances.push((1..=i).find(|back| batches[i - back].contains(e)));
        }
    }
    out.batches = batches;
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_sessions_against_a_naive_implementation((spec, calls) in sessions()) {
        let mut m = session();
        calls.iter().for_each(|(context, chosen)| call(&mut m, &spec, *context, chosen));
        let all = routings(&m);
        let groups: BTreeSet<(bool, u64)> = calls.iter().map(|(c, chosen)| (chosen[0].len() == 1, *c)).collect();
        prop_assert_eq!(all.len(), groups.len());
        for r in &all {
            let context = u64::from_str_radix(&r.context.as_ref().unwrap()[2..], 16).unwrap();
            prop_assert_eq!(r.layers.len(), spec.layers as usize);
            let (mut distances, mut bytes, mut top) = (Vec::new(), 0.0, 0);
            let mut tokens = 0;
            for (i, layer) in r.layers.iter().enumerate() {
                let want = naive(&calls, r.phase, context, i);
                let uses: Vec<u64> = (0..spec.n_expert).map(|e| want.uses.get(&e).copied().unwrap_or(0)).collect();
                prop_assert_eq!(&layer.expert_uses, &uses);
                let f = &layer.figures;
                let total: u64 = uses.iter().sum();
                prop_assert_eq!((f.uses, f.never_used), (total, uses.iter().filter(|u| **u == 0).count() as u64));
                let mean = want.distinct.iter().sum::<usize>() as f64 / want.distinct.len() as f64;
                prop_assert!(close(f.distinct_per_batch, Some(mean)));
                prop_assert!(close(f.bytes_per_batch, Some(mean * 103.0)));
                bytes += mean * 103.0;
                tokens += f.tokens;
                let mut sorted = uses.clone();
                sorted.sort_by_key(|u| std::cmp::Reverse(*u));
                let half: u64 = sorted[..spec.n_expert as usize / 2].iter().sum();
                prop_assert_eq!(f.pins[2].hits, half);
                let ahead = naive_ahead(&want.batches, spec.n_expert, spec.n_expert as usize / 2);
                prop_assert!(close(f.pins[2].ahead_share, ahead));
                top += half;
                let entropy: f64 = uses.iter().filter(|u| **u > 0).map(|u| {
                    let p = *u as f64 / total as f64;
                    p * (1.0 / p).log2()
                }).sum();
                prop_assert!(close(f.balance, Some(entropy / f64::from(spec.n_expert).log2())));
                if r.phase == Phase::Decode {
                    let first = spec.n_used as usize;
                    prop_assert_eq!(want.distances.len(), want.distinct.len() * first);
                    let reuse = f.reuse.as_ref().unwrap();
                    prop_assert_eq!(reuse.uses as usize, want.distances.len() - first);
                    prop_assert_eq!(reuse.again as usize, want.distances.iter().filter(|d| **d == Some(1)).count());
                    prop_assert_eq!(reuse.never as usize, want.distances.iter().filter(|d| d.is_none()).count());
                    prop_assert_eq!(reuse.unknown, 0);
                    let even = f64::from(spec.n_used) / f64::from(spec.n_expert);
                    prop_assert!(close(reuse.even_share, (reuse.uses > 0).then_some(even)));
                    distances.extend(want.distances.into_iter().flatten());
                }
            }
            prop_assert_eq!(r.whole.tokens, tokens);
            prop_assert!(close(r.whole.bytes_per_batch, Some(bytes)));
            prop_assert_eq!(r.whole.pins[2].hits, top);
            distances.sort_unstable();
            let rank = |p: f64| {
                let rank = (p * distances.len() as f64).ceil() as usize;
                rank.checked_sub(1).map(|i| distances[i] as u64)
            };
            let reuse = r.whole.reuse.clone().unwrap_or_default();
            prop_assert_eq!((reuse.known as usize, reuse.median_tokens, reuse.p90_tokens), (distances.len(), rank(0.5), rank(0.9)));
        }
    }
}

/// Before llama.cpp b2591 each expert had a separate tensor, ids were the first source, and a
/// reader served one rank.
#[test]
fn the_selection_of_engines_with_a_tensor_for_each_expert() {
    use profinfer_trace::model::expert::selections;
    use profinfer_trace::model::{Node, NodeIdx, Topology};
    let mut m = session();
    let mut tensor = |name: &str, op: &str, dtype: &str, ne: [u64; 4], bytes, src: &[u32]| Node {
        ne,
        bytes,
        src: rows::sources(src),
        ..rows::tensor(&mut m.texts, name, op, dtype)
    };
    // Ids, activations, two readers of the same weights, two of others, three experts of 10 and of
    // 30 bytes.
    let mut nodes = vec![
        tensor("ffn_moe_topk-4", "VIEW", "i32", [2, 5, 1, 1], 40, &[]),
        tensor("ffn_norm-4", "MUL", "f32", [8, 5, 1, 1], 160, &[]),
        tensor("ffn_moe_up-4", "MUL_MAT_ID", "f32", [4, 5, 1, 1], 80, &[0, 1, 6, 7, 8]),
        tensor("ffn_moe_up-4", "MUL_MAT_ID", "f32", [4, 5, 1, 1], 80, &[0, 1, 6, 7, 8]),
        tensor("ffn_moe_down-4", "MUL_MAT_ID", "f32", [4, 5, 1, 1], 80, &[0, 2, 9, 10, 11]),
        tensor("ffn_moe_down-4", "MUL_MAT_ID", "f32", [4, 5, 1, 1], 80, &[0, 3, 9, 10, 11]),
    ];
    for (name, bytes) in [("ffn_up", 10), ("ffn_down", 30)] {
        for e in 0..3 {
            nodes.push(tensor(&format!("blk.4.{name}.{e}.weight"), "NONE", "q4_K", [8, 4, 1, 1], bytes, &[]));
        }
    }
    let mut topology = Topology { pid: 7, n_nodes: 6, nodes, complete: true };
    let [selection] = &*selections(&m.texts, &topology) else { panic!() };
    assert_eq!((selection.n_expert, selection.n_used, selection.n_tokens), (3, 2, 5));
    assert_eq!((selection.readers.len(), selection.weights), (4, NodeIdx(6)));
    // Each weight once, however many readers it has.
    assert_eq!(selection.expert_bytes, Some(40));
    // Experts of different sizes have no common size.
    topology.nodes[10].bytes = 31;
    assert_eq!(selections(&m.texts, &topology)[0].expert_bytes, None);
    // Without a tensor of ids there is no selection.
    topology.nodes[0].dtype = topology.nodes[1].dtype;
    assert!(selections(&m.texts, &topology).is_empty());
}

/// The sums of `small_session_by_hand` over both phases, as engines that pin experts read them.
#[test]
fn a_profile_to_pin_by() {
    let all = routings(&routed::small());
    let uses = by_layer(&all).unwrap();
    let mut csv = Vec::new();
    assert_eq!(expert_pins(&uses, &mut csv).unwrap(), 6);
    assert_eq!(
        String::from_utf8(csv).unwrap(),
        "layer,expert,count\n0,0,6\n0,1,5\n0,2,3\n1,0,1\n1,2,6\n1,3,7\n"
    );

    assert_eq!(by_layer(&[]), Err(NotOneModel::NoRouters));
    let mut unnumbered = all.clone();
    unnumbered[1].layers[1].layer = None;
    let weights = all[1].layers[1].weights.clone();
    assert_eq!(by_layer(&unnumbered), Err(NotOneModel::Unnumbered(weights)));
    // A layer with the same number but other weights, another size or another process belongs to
    // another model.
    let other = |change: fn(&mut Routing)| {
        let mut both = all.clone();
        change(&mut both[1]);
        by_layer(&both)
    };
    let context = Some("0x5500".to_owned());
    let several = |pid| Err(NotOneModel::Several(vec![(7, context.clone()), (pid, context.clone())]));
    assert_eq!(other(|r| r.layers[0].weights.push('x')), several(7));
    assert_eq!(other(|r| r.layers[1].expert_bytes = Some(124)), several(7));
    assert_eq!(other(|r| r.layers[1].expert_uses.push(0)), several(7));
    assert_eq!(other(|r| r.pid = 8), several(8));
    // A context with only some of the layers belongs to the same model.
    assert!(other(|r| drop(r.layers.pop())).is_ok());
}
