//! More threads than CPUs: they take each other's.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::Remedy;
use crate::ladder::{IGNORED, NAMED};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "too_many_threads",
    title: "More threads than CPUs",
    question: "Why do more threads make it slower? Why do two threads run on one CPU?",
    condition: "More threads compute than the CPUs that the engine may use (affinity mask, online CPUs).",
    formula: "The replay with the work shared by as many threads as CPUs.",
    remedy: "Give the engine as many threads as it has CPUs (-t), or allow it more CPUs (taskset, cpuset).",
    source: "llama.cpp #3154, #5225, #767, #842; the engine's threads spin at the barrier",
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Fact("affinity")],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let threads = case.headline.threads;
    let Some(cpus) = case.cpus() else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("affinity")]);
    };
    let evidence = vec![
        Evidence::new("threads", Value::Count(threads), Place::Threads),
        Evidence::new("cpus", Value::Cpus(cpus.clone()), Place::Conditions),
    ];
    let n = cpus.len() as u64;
    if threads <= n || n == 0 {
        return Verdict::RuledOut(evidence);
    }
    let remedy = Remedy::Threads { threads: n };
    let Some(caused) = case.caused(|c| c == Cause::TooManyThreads) else {
        return Verdict::Found(Found { evidence, remedy, gain: None, confidence: Confidence::High });
    };
    let gain = caused.gain;
    match caused.share {
        share if share < IGNORED => Verdict::RuledOut(evidence),
        share if share < NAMED => Verdict::Noisy(evidence),
        _ => Verdict::Found(Found { evidence, remedy, gain: Some(gain), confidence: Confidence::High }),
    }
}
