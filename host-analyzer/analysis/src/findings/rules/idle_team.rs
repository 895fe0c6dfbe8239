//! Threads of the engine that compute nothing run, or make others sleep.

use super::super::case::{MIN_CALLS, SCHED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "idle_team",
    topic: "idle threads that spin",
    title: "Threads of the engine that compute nothing are in the way",
    question: "Why is it slow although the engine has all the CPUs? Why are more CPUs busy than -t says?",
    condition: "Threads of the engine that compute no operator of the judged calls run for more than half of their time: a team of another size, a team of another thread of the application, a thread that polls. Or threads that compute waited for their CPUs, or slept at barriers because the threads of all teams are more than the CPUs: at least 3 % of the time of a token, a prompt or a call of an encoder. Does not apply where another backend computes on its own: threads of its driver run, too.",
    formula: "The replay without the waits for their CPUs and without the wake-ups. No time is promised where they only run, since they share a core, its clock and its caches with the others, and where they work for the application.",
    remedy: "Call the engine from one thread, with as many threads for prompts as for tokens (-tb equal to -t). Where idle threads spin, let them sleep (no OMP_WAIT_POLICY=active).",
    source: "libgomp manual, OMP_WAIT_POLICY: each calling thread and each team size has threads that wait by spinning; GOMP_SPINCOUNT: they spin less where there are more of them than CPUs",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| kind == StepKind::Caused(Cause::IdleTeam),
    judge,
};

/// A thread that computes nothing and has this share of the judged calls' time spins.
const RUNS: f64 = 0.5;

fn judge(case: &Case<'_>) -> Verdict {
    if case.waits_for_backends() {
        return Verdict::DoesNotApply;
    }
    let idle = case.idle_runs();
    let mut evidence = Vec::new();
    if let Some(share) = idle {
        evidence.push(Evidence::new("idle_threads_running", Value::Share(share), Place::Timeline));
    }
    let threads = Value::Count(case.headline.threads);
    evidence.push(Evidence::new("threads", threads, Place::Threads));
    let runs = idle.is_some_and(|share| share >= RUNS) && case.calls.traced.len() as u64 >= MIN_CALLS;
    let most = case.caused(&RULE).iter().map(|c| c.share).fold(0.0, f64::max);
    if runs && most < IGNORED {
        let (remedy, confidence) = (Remedy::NoIdleTeam, Confidence::Medium);
        return Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence });
    }
    match case.judge_caused(&RULE, evidence, Remedy::NoIdleTeam, Confidence::High) {
        // A thread of the application that does something now and then.
        Verdict::Found(found) if !runs && most < RUNS && !case.has_other_team() => Verdict::Found(Found {
            remedy: Remedy::LessApplicationWork,
            gains: Vec::new(),
            confidence: Confidence::Low,
            ..found
        }),
        other => other,
    }
}
