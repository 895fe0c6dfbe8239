//! The memory delivers all that it can.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};
use crate::ladder::{self, FloorGroup, Ladder, StepKind};
use crate::results::roof::Utilisation;

pub(super) const RULE: Rule = Rule {
    code: "bandwidth",
    topic: "memory bandwidth",
    title: "The memory bandwidth is used up",
    question: "Why not more tokens per second? Why do more threads not help?",
    condition: "A decode token reads its weights and its KV cache at 85 % or more of the rate that was measured on this board with as many threads. Without a measured rate it is ruled out below half of the rate of the fastest operator, which is a lower bound of what the memory delivers.",
    formula: "Only fewer bytes make it faster. Replay with weights of 4.5 bits (Q4_K, Q4_0): the products with weights take less by the ratio of the bytes. The least is that ratio of their time at the limit, the most that of their whole time. It holds if the kernel of the smaller type keeps up with the memory here, which was not recorded. No gain is promised for weights that are that small already.",
    remedy: "Use a smaller quantization or a smaller model. More threads do not help.",
    source: "llama.cpp #12966, #26484 (file size times speed is constant on one board: 9.76 to 10.55 GB/s from Q2_K to Q8_0)",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor),
    judge,
};

/// From this part of the ceiling on it is used up.
const FULL: f64 = 0.85;
/// Below this part of the best rate seen it is not. The fastest operator may have read a part of
/// its weights from a cache, so a smaller difference decides nothing.
const FAR: f64 = 0.5;
/// Bits of a weight that most models bear.
const SMALL_BITS: f64 = 4.5;

fn judge(case: &Case<'_>) -> Verdict {
    let Some(decode) = case.analysis.roof.decode else {
        return Verdict::NotEnoughData(vec![Requirement::Level("operator")]);
    };
    let Some(mbu) = decode.mbu else { return by_best_seen(case, decode) };
    let mut evidence = vec![
        Evidence::new("memory_bandwidth_used", Value::Share(mbu), Place::Roofline),
        Evidence::new("read_rate", Value::BytesPerSecond(decode.bytes_per_s), Place::Roofline),
        Evidence::new("bytes_per_token", Value::Bytes(decode.bytes_per_token as u64), Place::Roofline),
    ];
    evidence.extend(case.read_ceiling());
    let bits = case.bits_per_weight();
    if let Some(bits) = bits {
        evidence.push(Evidence::new("bits_per_weight", Value::Mean(bits), Place::Weights));
    }
    if mbu < FULL {
        return Verdict::RuledOut(evidence);
    }
    let smaller = bits.filter(|bits| *bits > SMALL_BITS * 1.1).map(|bits| 1.0 - SMALL_BITS / bits);
    let gain = smaller.zip(case.judged()).and_then(|(part, ladder)| smaller_weights(ladder, part));
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::SmallerWeights,
        gains: gain.into_iter().collect(),
        confidence: Confidence::High,
    })
}

/// What is saved if the weights have fewer bytes by this part.
fn smaller_weights(ladder: &Ladder, part: f64) -> Option<Gain> {
    let groups = || ladder.floor.iter().flat_map(|f| &f.groups).filter(|g| g.group.reads_weights());
    let of = |ns: fn(&FloorGroup) -> u64| (groups().map(ns).sum::<u64>() as f64 * part) as u64;
    let (low_ns, high_ns) = (of(|g| g.floor_ns.min(g.work_ns)), of(|g| g.work_ns));
    let gain = ladder::Gain { low_ns, likely_ns: u64::midpoint(low_ns, high_ns), high_ns };
    (high_ns > 0).then(|| Gain::of_ladder(ladder, gain))
}

/// Without a ceiling: a token that is read at far less than the fastest operator's rate leaves
/// bandwidth. The opposite does not follow.
fn by_best_seen(case: &Case<'_>, decode: Utilisation) -> Verdict {
    let seen = case.analysis.roof.phase(decode.phase).instead.read;
    let share = seen.map(|seen| (seen.per_s as f64, decode.bytes_per_s / seen.per_s as f64));
    match share {
        Some((best, share)) if share < FAR => Verdict::RuledOut(vec![
            Evidence::new("of_best_read_rate_seen", Value::Share(share), Place::Roofline),
            Evidence::new("read_rate", Value::BytesPerSecond(decode.bytes_per_s), Place::Roofline),
            Evidence::new("best_read_rate_seen", Value::BytesPerSecond(best), Place::Roofline),
            Evidence::new("bytes_per_token", Value::Bytes(decode.bytes_per_token as u64), Place::Roofline),
        ]),
        _ => Verdict::NotEnoughData(vec![Requirement::Ceiling("read")]),
    }
}
