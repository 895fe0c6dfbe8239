//! The kernels, not the memory, limit decode.

use super::super::case::{MIN_TOKENS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::ladder::StepKind;
use crate::results::bound::Kind;
use crate::results::budget::Class;
use crate::shared::phase::Phase;

pub(super) const RULE: Rule = Rule {
    code: "kernels",
    topic: "arithmetic",
    title: "The processor limits decode, not the memory",
    question: "Why only half of the bandwidth?",
    condition: "Less than 70 % of the read ceiling is used, and operators that take at least half of the decode time are bound by arithmetic.",
    formula: "Between nothing and the time that the same bytes would take at 85 % of the ceiling.",
    remedy: "Use a type with cheaper arithmetic (Q4_0, Q4_K, Q8_0 instead of IQ types), a build with the dot-product instructions of this processor, or more threads if there are idle cores.",
    source: "llama.cpp #25976 (55 to 60 % of the bandwidth on Neoverse-N2), #8760 (IQ types)",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Ceiling("read"),
        Requirement::Ceiling("int8"),
    ],
    steps: |_, kind| matches!(kind, StepKind::AboveFloor),
    judge,
};

/// Below this use of the memory it is not the limit.
const USED: f64 = 0.7;
/// What good kernels reach.
const REACHED: f64 = 0.85;
/// Part of the decode time.
const MOST: f64 = 0.5;

fn judge(case: &Case<'_>) -> Verdict {
    let Some(mbu) = case.analysis.roof.decode.and_then(|d| d.mbu) else {
        return Verdict::NotEnoughData(vec![Requirement::Ceiling("read")]);
    };
    let rows = case.analysis.op.operators.iter().zip(&case.analysis.bound);
    let decode = || rows.clone().filter(|(op, _)| op.phase == Phase::Decode);
    let all: u64 = decode().map(|(op, _)| op.wall_ns).sum();
    let compute: u64 = decode().filter(|(_, b)| b.by == Kind::Compute).map(|(op, _)| op.wall_ns).sum();
    let share = compute as f64 / all.max(1) as f64;
    let mut evidence = vec![
        Evidence::new("bound_by_arithmetic", Value::Share(share), Place::Operators),
        Evidence::new("memory_bandwidth_used", Value::Share(mbu), Place::Roofline),
    ];
    evidence.extend(case.read_ceiling());
    if mbu >= USED || share < MOST {
        return Verdict::RuledOut(evidence);
    }
    let work = case.wall(&[Class::Work]);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::CheaperArithmetic,
        gains: vec![Gain::new(case.token_ns(), 0.0, work.high() * (1.0 - mbu / REACHED))],
        confidence: Confidence::Medium,
    })
}
