//! Threads go to sleep at barriers and have to be woken.

use super::super::case::{MIN_GAIN_SHARE, MIN_TOKENS};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::results::budget::Class;
use crate::stats::mean::Mean;

pub(super) const RULE: Rule = Rule {
    code: "passive_wait",
    title: "Threads sleep at barriers",
    question: "Why do two runs of the same program differ? Why is it slow with OMP_WAIT_POLICY=passive?",
    condition: "OMP_WAIT_POLICY is passive or GOMP_SPINCOUNT is 0, or the engine's threads fall asleep more often than once in two operators; the time between operators and for threads that begin late is above that of a spinning barrier.",
    formula: "The classes `between_operators`, `wait_started_late`, `waking` and `blocked` of a decode token, less 2 us an operator, which a spinning barrier and the dispatch take. At least 0.4 of the lower end, at most 1.3 of the upper one, as caches and clocks suffer from sleep too.",
    remedy: "Let the threads spin: OMP_WAIT_POLICY=active, no GOMP_SPINCOUNT=0, --poll 50 or higher. It costs power while nothing is computed.",
    source: "llama.cpp #26484 (+7.8 %, 8 of 8 pairs), #8672, #26740, llamafile #974 (-70 %); libgomp manual, GOMP_SPINCOUNT",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TOKENS),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Fact("environment.read"),
    ],
    judge,
};

/// Time that a spinning barrier and the dispatch of the next operator take, ns: 1 to 2 us on the machines that were seen.
const SPINNING_NS: f64 = 2_000.0;

fn judge(case: &Case<'_>) -> Verdict {
    if case.headline.threads < 2 {
        return Verdict::DoesNotApply;
    }
    let variable = |name: &str| case.process().and_then(|p| p.variable(name)).map(str::trim);
    let is = |name: &str, wanted: &str| variable(name).is_some_and(|v| v.eq_ignore_ascii_case(wanted));
    let asked = is("OMP_WAIT_POLICY", "passive") || is("GOMP_SPINCOUNT", "0");
    let sleeps = case.sleeps_per_token();
    let operators = case.operators_per_token();
    let lost = case.wall(&[Class::BetweenOperators, Class::WaitStartedLate, Class::Waking, Class::Blocked]);
    let spinning = operators * SPINNING_NS;
    let mut evidence = Vec::new();
    if let Some(policy) = variable("OMP_WAIT_POLICY") {
        evidence.push(Evidence::new("OMP_WAIT_POLICY", Value::Name(policy.to_owned()), Place::Conditions));
    }
    if let Some(count) = variable("GOMP_SPINCOUNT") {
        evidence.push(Evidence::new("GOMP_SPINCOUNT", Value::Name(count.to_owned()), Place::Conditions));
    }
    if let Some(sleeps) = sleeps {
        evidence.push(Evidence::new("sleeps_per_token", Value::Mean(sleeps), Place::Timeline));
    }
    evidence.push(Evidence::new("operators_per_token", Value::Mean(operators), Place::Operators));
    evidence.push(Evidence::new("between_ns_per_token", Value::Nanoseconds(lost.mean as u64), Place::Budget));
    // Threads without a CPU of their own sleep for that.
    let crowded = case.cpus().is_some_and(|cpus| case.headline.threads > cpus.len() as u64);
    let falls_asleep = sleeps.is_some_and(|s| s > operators / 2.0) && !crowded;
    let more = lost.minus(Mean::known(spinning));
    if let Some(noisy) = case.noisy(more, MIN_GAIN_SHARE, &evidence).filter(|_| asked || falls_asleep) {
        return noisy;
    }
    if !(asked || falls_asleep) || case.share(more.mean) < MIN_GAIN_SHARE {
        return Verdict::RuledOut(evidence);
    }
    let gain =
        Gain::new(case.token_ns(), (lost.low() - spinning) * 0.4, (lost.high() - spinning * 0.5) * 1.3);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::SpinAtBarriers,
        gain: Some(gain),
        confidence: if asked { Confidence::High } else { Confidence::Medium },
    })
}
