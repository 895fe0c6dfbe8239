//! More threads than CPUs: they take each other's.

use super::super::case::MIN_TOKENS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::results::budget::Class;
use crate::shared::phase::Phase;

pub(super) const RULE: Rule = Rule {
    code: "too_many_threads",
    title: "More threads than CPUs",
    question: "Why do more threads make it slower? Why do two threads run on one CPU?",
    condition: "More threads compute than the CPUs that the engine may use (affinity mask, online CPUs).",
    formula: "With a thread a CPU the token takes what lies outside of operators, and the threads' work divided by the CPUs. Its work becomes \
              0.5 to 1.15 of what it is, as threads no longer share caches and the barrier no longer waits for threads without a CPU.",
    remedy: "Give the engine as many threads as it has CPUs (-t), or allow it more CPUs (taskset, cpuset).",
    source: "llama.cpp #3154, #5225, #767, #842; the engine's threads spin at the barrier",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TOKENS),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Fact("affinity"),
    ],
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
    let Some(decode) = case.analysis.budget.phase(Phase::Decode) else {
        return Verdict::RuledOut(evidence);
    };
    let per_call = |ns: u64| ns as f64 / decode.calls.max(1) as f64;
    let work: f64 = decode.threads.iter().map(|t| per_call(t.parts.get(Class::Work))).sum();
    let outside = [Class::GraphPreparation, Class::Application, Class::OtherBackend, Class::Probes];
    let outside: f64 = outside.iter().map(|c| per_call(decode.wall.get(*c))).sum();
    let token = case.token_ns() as f64;
    let becomes = |factor: f64| (outside + work / n as f64 * factor) / token;
    let gain = Gain::to_share(case.token_ns(), becomes(0.5), becomes(1.15));
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Threads { threads: n },
        gain: Some(gain),
        confidence: Confidence::High,
    })
}
