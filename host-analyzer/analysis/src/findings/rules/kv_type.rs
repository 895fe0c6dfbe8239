//! The type of the KV cache may be slow to read.
//!
//! What another type would take is not in the recording. So the gain has no lower end, and the finding is
//! one of those that a trial decides.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};
use crate::ladder::{self, FloorGroup, IGNORED, Ladder, NAMED, Retyped, StepKind, TensorGroup};
use profinfer_trace::model::{Node, Role};

pub(super) const RULE: Rule = Rule {
    code: "kv_type",
    topic: "type of the KV cache",
    title: "A quantized KV cache takes long to read",
    question: "Why does a quantized KV cache make it slower?",
    condition: "The KV cache is quantized, and half of what its type can cost at most is at least 3 % of a token. It is ruled out if the cache is not quantized, or if less than 2 % of a token can be due to its type.",
    formula: "At most, without flash attention: what the replay saves if the product with the keys takes as long per operation as that with the values, which have the other type there; with flash attention: the time above the limit. What another type takes here was not recorded, so the least is 0, and the likely gain is the middle.",
    remedy: "Try f16 keys and values (no -ctk and -ctv), or q8_0 for both with flash attention (-fa on -ctk q8_0 -ctv q8_0), and compare.",
    source: "llama.cpp #7412, #11352: quantized KV caches need flash attention to pay",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_CALLS),
        Requirement::Ends,
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

/// Types that every build multiplies without unpacking them first.
const PLAIN: [&str; 3] = ["f16", "bf16", "f32"];
/// The quantized type that flash attention reads fastest.
const SMALL: &str = "q8_0";

/// The likely part of a token that is due to the type of the cache, ns.
pub(super) fn likely_ns(case: &Case<'_>) -> f64 {
    match judge(case) {
        Verdict::Found(found) => found.gains.first().map_or(0.0, |gain| gain.likely_ns as f64),
        _ => 0.0,
    }
}

/// Whether the keys of the cache are in a type that is not quantized, or unknown.
pub(super) fn may_quantize(case: &Case<'_>) -> bool {
    let model = case.model;
    let own = model.topologies.iter().map(|(_, t)| t).filter(|t| t.pid == case.pid);
    let leafs = own.flat_map(|t| &t.nodes[t.n_nodes as usize..]);
    let keys = |n: &&Node| n.role == Role::Cache && model.texts.get(n.name).starts_with("cache_k");
    let mut types = leafs.filter(keys).map(|n| model.texts.get(n.dtype)).peekable();
    types.peek().is_none() || types.any(|dtype| PLAIN.contains(&dtype))
}

/// Types to try instead of a slow one. The others that the engine has are slower with flash attention, and
/// without it no values are quantized.
fn to_try(slow: &Retyped<'_>) -> &'static [&'static str] {
    let flash = slow.to.is_none();
    if flash && slow.from.dtype == SMALL { &["f16"] } else { &["f16", SMALL] }
}

fn judge(case: &Case<'_>) -> Verdict {
    let Some(ladder) = case.judged().filter(|l| l.floor.is_some()) else {
        return Verdict::NotEnoughData(vec![Requirement::Ceiling("read")]);
    };
    let all = ladder.retyped(|group| group == TensorGroup::AttentionCells);
    let Some(first) = all.first() else { return Verdict::DoesNotApply };
    let Some(slow) = all.iter().find(|r| !PLAIN.contains(&&*r.from.dtype)) else {
        return Verdict::RuledOut(evidence(ladder, first.from));
    };
    let evidence = evidence(ladder, slow.from);
    // The time of the values only bounds that of keys in their type: keys are read in shorter rows.
    // Measured, keys in f16 took 2.2 times as long as values in f16.
    let most = slow.to.map_or_else(|| slow.from.above_ns(), |(_, gain)| gain.high_ns);
    let share = ladder.share(i64::try_from(most).unwrap_or(i64::MAX));
    if share < IGNORED {
        return Verdict::RuledOut(evidence);
    }
    if share / 2.0 < NAMED {
        return Verdict::NotEnoughData(vec![Requirement::OtherKvType]);
    }
    // Nothing in the recording favours one of the ends, so the likely gain is the middle.
    let gain = ladder::Gain { low_ns: 0, likely_ns: most / 2, high_ns: most };
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::KvType { types: to_try(slow) },
        gains: vec![Gain::of_ladder(ladder, gain)],
        confidence: Confidence::Low,
    })
}

fn evidence(ladder: &Ladder, cells: &FloorGroup) -> Vec<Evidence> {
    let per_token = |n: u64| n / ladder.units.max(1);
    vec![
        Evidence::new("type_of_cache", Value::Name(cells.dtype.clone()), Place::Operators),
        Evidence::new(
            "reading_it_ns_per_token",
            Value::Nanoseconds(per_token(cells.work_ns)),
            Place::Operators,
        ),
        Evidence::per(
            ladder.question,
            "above_limit_ns",
            Value::Nanoseconds(per_token(cells.above_ns())),
            Place::Budget,
        ),
        Evidence::new("bytes_per_token", Value::Bytes(per_token(cells.bytes)), Place::Operators),
    ]
}
