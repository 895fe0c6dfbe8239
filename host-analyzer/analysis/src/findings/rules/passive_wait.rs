//! Threads go to sleep at barriers and have to be woken.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "passive_wait",
    topic: "sleep at barriers",
    title: "Threads sleep at barriers",
    question: "Why do two runs of the same program differ? Why is it slow with OMP_WAIT_POLICY=passive?",
    condition: "OMP_WAIT_POLICY is passive or GOMP_SPINCOUNT is 0, or the engine's threads fall asleep more often than once in two operators; waking them takes at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay with threads that spin: each operator begins after the barrier before it as soon as where no thread of this recording slept, in the mean; where threads sleep at all barriers, as its fastest hundredth, and 0.4 us after it at most, with the probes. No time is promised where threads sleep seldom although the environment lets them spin: something else delays one of them.",
    remedy: "Let the threads spin: OMP_WAIT_POLICY=active, no GOMP_SPINCOUNT=0, --poll 50 or higher. It costs power while nothing is computed.",
    source: "llama.cpp #26484 (+7.8 %, 8 of 8 pairs), #8672, #26740, llamafile #974 (-70 %); libgomp manual, GOMP_SPINCOUNT",
    questions: ANY,
    requires: &[
        Requirement::Level(SCHED),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Fact("environment.read"),
    ],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::WakeUp)),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    if case.headline.threads < 2 {
        return Verdict::DoesNotApply;
    }
    let variable = |name: &str| case.process().and_then(|p| p.variable(name)).map(str::trim);
    let asked = case.process().is_some_and(|p| p.asks_for_sleep());
    let sleeps = case.sleeps_per_unit();
    let operators = case.operators_per_unit();
    let mut evidence = Vec::new();
    if let Some(policy) = variable("OMP_WAIT_POLICY") {
        evidence.push(Evidence::new("OMP_WAIT_POLICY", Value::Name(policy.to_owned()), Place::Conditions));
    }
    if let Some(count) = variable("GOMP_SPINCOUNT") {
        evidence.push(Evidence::new("GOMP_SPINCOUNT", Value::Name(count.to_owned()), Place::Conditions));
    }
    if let Some(sleeps) = sleeps {
        evidence.push(case.per_unit("sleeps", Value::Mean(sleeps), Place::Timeline));
    }
    evidence.push(case.per_unit("operators", Value::Mean(operators), Place::Operators));
    // Threads without a CPU of their own sleep for that.
    let crowded = case.cpus().is_some_and(|cpus| case.headline.threads > cpus.len() as u64);
    let falls_asleep = sleeps.is_some_and(|s| s > operators / 2.0) && !crowded;
    let confidence = match (asked, falls_asleep) {
        (true, _) => Confidence::High,
        (false, true) => Confidence::Medium,
        // They sleep because something else delays one of them.
        (false, false) => Confidence::Low,
    };
    let sleep = sleeps.is_some_and(|s| s >= 1.0);
    let idle_team = case.caused(&super::idle_team::RULE).iter().any(|c| c.share >= IGNORED);
    match case.judge_caused(&RULE, evidence, Remedy::SpinAtBarriers, confidence) {
        // With a CPU for each thread, they may not sleep.
        Verdict::Found(_) if crowded => Verdict::NotEnoughData(vec![Requirement::Culprit]),
        // They do sleep, which another team may have caused.
        Verdict::RuledOut(_) if sleep && idle_team => Verdict::NotEnoughData(vec![Requirement::Culprit]),
        Verdict::Found(found) if confidence == Confidence::Low => {
            Verdict::Found(Found { gains: Vec::new(), ..found })
        }
        other => other,
    }
}
