//! Weights are read from disk again and again.

use super::super::case::{MIN_TOKENS, SCHED, WORTH};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Missing, Rule, Verdict};
use super::Remedy;
use crate::analyses::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "paging",
    title: "Weights are paged in while tokens are generated",
    question: "Why does it begin fast and then crawl, with idle cores?",
    condition: "The engine has major page faults while it decodes, more than one in ten tokens, or its threads are blocked inside operators for at least 2 % of a token.",
    formula: "The class `blocked` of a decode token, with its 95 % interval. At least 0.4 of the lower end, at most 1.2 of the upper one.",
    remedy: "Use a smaller model or quantization, free memory, raise the control group's memory limit; --mlock keeps what fits.",
    source: "llama.cpp #832, #767, #453; gpustack #1767",
    needs: &[Missing::DecodeCalls(MIN_TOKENS), Missing::Fact("faults.major")],
    judge,
};

/// Major faults a token from which on it is paging.
const FAULTS: f64 = 0.1;

fn judge(case: &Case<'_>) -> Verdict {
    // Readings are a second apart: a rate while tokens were generated, if there are any then.
    let faults = case.process().and_then(|p| p.major_faults.value()?.decode_per_s());
    let per_token = faults.map(|per_s| per_s * case.token_ns() as f64 / 1e9);
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
    let is_paging = match (case.model.sched.recorded, per_token) {
        (true, _) => case.share(blocked.mean) >= WORTH,
        (false, Some(faults)) => faults >= FAULTS,
        (false, None) => return Verdict::NotEnoughData(vec![Missing::Level(SCHED)]),
    };
    if !is_paging {
        return Verdict::RuledOut(evidence);
    }
    let gain = Gain::of(case.token_ns(), blocked.low() * 0.4, blocked.high() * 1.2);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::MoreMemory { bytes },
        gain: case.model.sched.recorded.then_some(gain),
        confidence: Confidence::High,
    })
}
