//! Weights are read from disk again and again.

use super::super::case::{MIN_GAIN_SHARE, MIN_TOKENS};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::results::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "paging",
    title: "Weights are paged in while tokens are generated",
    question: "Why does it begin fast and then crawl, with idle cores?",
    condition: "The engine has major page faults while it decodes, more than one in ten tokens, and its threads sleep inside operators for at least 2 % of a token.",
    formula: "The class `blocked` of a decode token, with its 95 % interval. At least 0.4 of the lower end. The kernel's own work for the faults counts as the operators', so at most the upper end and all work.",
    remedy: "Use a smaller model or quantization, free memory, raise the control group's memory limit; --mlock keeps what fits.",
    source: "llama.cpp #832, #767, #453; gpustack #1767",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TOKENS),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Fact("faults.major"),
    ],
    judge,
};

/// Major faults a token from which on it is paging.
const FAULTS: f64 = 0.1;

fn judge(case: &Case<'_>) -> Verdict {
    // Readings are a second apart: a rate while tokens were generated, if there are any then; else all that were seen.
    let faults = case.process().and_then(|p| p.major_faults.value());
    let rate = faults.and_then(|rise| rise.decode_per_s()).map(|per_s| per_s * case.token_ns() as f64 / 1e9);
    let whole = faults.map(|rise| rise.whole as f64 / case.headline.tokens.max(1) as f64);
    let per_token = rate.or(whole);
    let blocked = case.wall(&[Class::Blocked]);
    let mut evidence = Vec::new();
    if let Some(faults) = per_token {
        evidence.push(Evidence::new("major_faults_per_token", Value::Mean(faults), Place::Conditions));
    }
    if case.model.sched.recorded {
        let ns = Value::Nanoseconds(blocked.mean as u64);
        evidence.push(Evidence::new("blocked_ns_per_token", ns, Place::Budget));
    }
    if let Some(free) = case.analysis.conditions.system.memory_available_bytes.value() {
        evidence.push(Evidence::new("memory_available", Value::Bytes(free.min), Place::Conditions));
    }
    let limit = case.process().and_then(|p| p.cgroup.memory_limit_bytes.value()?.get().copied());
    if let Some(limit) = limit {
        evidence.push(Evidence::new("memory_limit", Value::Bytes(limit), Place::Conditions));
    }
    let bytes: u64 = case.analysis.weight.iter().map(|w| w.bytes).sum();
    evidence.push(Evidence::new("weights", Value::Bytes(bytes), Place::Weights));
    let faults = per_token.is_some_and(|faults| faults >= FAULTS);
    if let Some(noisy) =
        case.noisy(blocked, MIN_GAIN_SHARE, &evidence).filter(|_| faults && case.model.sched.recorded)
    {
        return noisy;
    }
    let costs = !case.model.sched.recorded || case.share(blocked.mean) >= MIN_GAIN_SHARE;
    if !(faults && costs) {
        return Verdict::RuledOut(evidence);
    }
    let gain =
        Gain::new(case.token_ns(), blocked.low() * 0.4, blocked.high() + case.wall(&[Class::Work]).high());
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::MoreMemory { bytes },
        gain: case.model.sched.recorded.then_some(gain),
        confidence: Confidence::High,
    })
}
