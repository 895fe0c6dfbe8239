//! Weights are read from disk again and again.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};
use crate::ladder::{Question, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "paging",
    topic: "page-ins",
    title: "Weights are paged in while tokens are generated",
    question: "Why does it begin fast and then crawl, with idle cores?",
    condition: "The engine has major page faults while it decodes, more than one in ten tokens, and its threads sleep inside operators for at least 2 % of a token.",
    formula: "The replay without the uninterruptible sleep inside operators and the kernel's own work for the pages: its CPU time for the process in these tokens (/proc/PID/stat), less the probes.",
    remedy: "Use a smaller model or quantization, free memory, raise the control group's memory limit. --load-mode mlock (older builds: --mlock) keeps what fits.",
    source: "llama.cpp #832, #767, #453; gpustack #1767",
    questions: GENERATING,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Fact("faults.major")],
    steps: |question, kind| question == Question::Decode && kind == StepKind::Caused(Cause::Blocked),
    judge,
};

/// Major faults a token from which on it is paging.
const FAULTS: f64 = 0.1;

/// From this part of the sleep on, it is that of look-ups in tables.
const MOSTLY: f64 = 0.5;

fn judge(case: &Case<'_>) -> Verdict {
    // Readings are a second apart: a rate while tokens were generated, if there are any then; else all that were seen.
    let faults = case.process().and_then(|p| p.major_faults.value());
    let rate =
        faults.and_then(|rise| rise.decode_per_s()).map(|per_s| per_s * case.calls.unit_ns as f64 / 1e9);
    let whole = faults.map(|rise| rise.whole as f64 / case.calls.units.max(1) as f64);
    let per_token = rate.or(whole);
    let mut evidence = Vec::new();
    if let Some(faults) = per_token {
        evidence.push(Evidence::new("major_faults_per_token", Value::Mean(faults), Place::Conditions));
    }
    evidence.extend(case.most_read());
    let swapped = case.process().and_then(|p| p.swapped_bytes.value()).map_or(0, |course| course.max);
    if swapped > 0 {
        evidence.push(Evidence::new("swapped", Value::Bytes(swapped), Place::Conditions));
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
    let Some(faults) = per_token else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("faults.major")]);
    };
    if faults < FAULTS {
        return Verdict::RuledOut(evidence);
    }
    let table = case.blocked_in_tables(case.phase()).filter(|(_, share)| *share >= MOSTLY);
    if let Some((table, share)) = table {
        evidence.push(Evidence::new("table", Value::Name(table.to_owned()), Place::Operators));
        evidence.push(Evidence::new("blocked_in_tables", Value::Share(share), Place::Operators));
    }
    let remedy = if table.is_some() { Remedy::TableInMemory } else { Remedy::MoreMemory { bytes } };
    if case.model.sched.recorded {
        return case.judge_caused(&RULE, evidence, remedy, Confidence::High);
    }
    if case.calls.number() < MIN_CALLS {
        return Verdict::NotEnoughData(vec![Requirement::Calls(MIN_CALLS)]);
    }
    Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence: Confidence::High })
}
