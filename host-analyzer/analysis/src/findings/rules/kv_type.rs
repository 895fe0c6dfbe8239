//! The type of the KV cache may be slow to read.

use super::super::case::MIN_TOKENS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Requirement, Rule, Verdict};
use crate::ladder::{FloorGroup, IGNORED, Ladder, Question, StepKind, TensorGroup};

pub(super) const RULE: Rule = Rule {
    code: "kv_type",
    topic: "type of the KV cache",
    title: "The type of the KV cache has no fast kernel here",
    question: "Why does a quantized KV cache make it slower?",
    condition: "A recording with another type of keys is faster. One recording only rules it out: if the KV cache is not quantized, or if less than 2 % of a token can be due to its type.",
    formula: "At most, without flash attention, what the replay saves if the product with the keys takes as long per operation as that with the values, which have the other type there. Keys of the same type may take longer than values, so this is no gain. With flash attention, the time above the limit.",
    remedy: "Use f16 keys (no -ctk), or q8_0 for keys and values with flash attention (-fa on -ctk q8_0 -ctv q8_0).",
    source: "llama.cpp #7412, #11352: quantized KV caches need flash attention to pay",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TOKENS),
        Requirement::Ends,
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

/// Types that every build multiplies without unpacking them first.
const PLAIN: [&str; 3] = ["f16", "bf16", "f32"];

fn judge(case: &Case<'_>) -> Verdict {
    let ladder = case.measured().find(|l| l.question == Question::Decode);
    let Some(ladder) = ladder.filter(|l| l.floor.is_some()) else {
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
    if ladder.share(i64::try_from(most).unwrap_or(i64::MAX)) < IGNORED {
        Verdict::RuledOut(evidence)
    } else {
        Verdict::NotEnoughData(vec![Requirement::OtherKvType])
    }
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
        Evidence::new(
            "above_limit_ns_per_token",
            Value::Nanoseconds(per_token(cells.above_ns())),
            Place::Budget,
        ),
        Evidence::new("bytes_per_token", Value::Bytes(per_token(cells.bytes)), Place::Operators),
    ]
}
