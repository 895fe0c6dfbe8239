//! A type of weights has no fast kernel.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{self, FloorGroup, IGNORED, Ladder, NAMED, StepKind, TensorGroup};

pub(super) const RULE: Rule = Rule {
    code: "kernels",
    topic: "kernels of the types of weights",
    title: "A type of weights has no fast kernel here",
    question: "Why only half of the bandwidth? Why is a smaller quantization slower?",
    condition: "Products with weights of one type would take at least 3 % less of a token or a prompt if they took as long per operation as those with another type of this recording that has as many bits or more.",
    formula: "Replay with these weights in the other type. The interval is the range of that type's tensor groups; if only one has it, that of its operators.",
    remedy: "Requantize these tensors (llama-quantize --tensor-type), or take a quantization that has them in the faster type. Types with more bits need more memory and lose no quality.",
    source: "llama.cpp #25976 (55 to 60 % of the bandwidth on Neoverse-N2), #8760 (IQ types)",
    questions: ANY,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::Ends,
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::AboveFloor),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Some(ladder) = case.judged().filter(|l| l.floor.is_some()) else {
        return Verdict::NotEnoughData(vec![Requirement::Ceiling("read")]);
    };
    let all = ladder.retyped(TensorGroup::reads_weights);
    let Some(first) = all.first() else { return Verdict::DoesNotApply };
    let share = |ns: u64| ladder.share(i64::try_from(ns).unwrap_or(i64::MAX));
    let mut gains: Vec<(&FloorGroup, &str, ladder::Gain)> =
        all.iter().filter_map(|r| r.to.map(|(to, gain)| (r.from, to, gain))).collect();
    gains.retain(|(.., gain)| gain.likely_ns > 0);
    gains.sort_by_key(|(.., gain)| std::cmp::Reverse(gain.likely_ns));
    let likely = gains.iter().map(|(.., gain)| gain.likely_ns).fold(0, u64::saturating_add);
    if share(likely) < IGNORED {
        // Types that this recording does not have may have faster kernels, as far as the limit
        // leaves time.
        let above = all.iter().map(|r| r.from.above_ns()).fold(0, u64::saturating_add);
        return if share(above) < IGNORED {
            Verdict::RuledOut(of_group(ladder, first.from))
        } else {
            Verdict::NotEnoughData(vec![Requirement::OtherType])
        };
    }
    let (from, to) = (gains[0].0, gains[0].1.to_owned());
    let mut evidence = of_group(ladder, from);
    evidence.push(Evidence::new("other_type", Value::Name(to.clone()), Place::Operators));
    evidence.extend(case.read_ceiling());
    gains.retain(|(.., gain)| gain.low_ns > 0);
    let sum = |of: fn(&ladder::Gain) -> u64| gains.iter().map(|(.., g)| of(g)).fold(0, u64::saturating_add);
    let gain = ladder::Gain {
        low_ns: sum(|g| g.low_ns),
        likely_ns: sum(|g| g.likely_ns),
        high_ns: sum(|g| g.high_ns),
    };
    if share(gain.likely_ns) < NAMED {
        return Verdict::Noisy(evidence);
    }
    let (group, from) = (gains[0].0.group.name(), gains[0].0.dtype.clone());
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Requantize { group, from, to: gains[0].1.to_owned() },
        gains: vec![Gain::of_ladder(ladder, gain)],
        confidence: Confidence::Medium,
    })
}

/// What a tensor group reads, how fast, and what it costs above its limit.
fn of_group(ladder: &Ladder, group: &FloorGroup) -> Vec<Evidence> {
    let per_unit = |key, value, place| Evidence::per(ladder.question, key, value, place);
    let share = |n: u64| n / ladder.units.max(1);
    let rate = group.bytes as f64 * 1e9 / group.work_ns.max(1) as f64;
    vec![
        Evidence::new("tensor_group", Value::Name(group.group.name().to_owned()), Place::Operators),
        Evidence::new("type", Value::Name(group.dtype.clone()), Place::Operators),
        per_unit("above_limit_ns", Value::Nanoseconds(share(group.above_ns())), Place::Budget),
        Evidence::new("read_rate", Value::BytesPerSecond(rate), Place::Operators),
        per_unit("bytes", Value::Bytes(share(group.bytes)), Place::Operators),
    ]
}
