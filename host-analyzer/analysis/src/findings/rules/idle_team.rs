//! Threads of the engine run and compute nothing.

use super::super::case::{MIN_CALLS, SCHED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "idle_team",
    topic: "idle threads that spin",
    title: "Threads of the engine spin and compute nothing",
    question: "Why is it slow although the engine has all the CPUs? Why are more CPUs busy than -t says?",
    condition: "Threads of the engine that compute no operator of the judged calls run for more than half of their time: a team of another size, a team of another thread of the application, a thread that polls. Or threads that compute waited for their CPUs, or slept at barriers because the threads of all teams are more than the CPUs: at least 3 % of the time of a token, a prompt or a call of an encoder. Does not apply where another backend computes on its own: threads of its driver run, too.",
    formula: "The replay without the waits for their CPUs and without the wake-ups. No time is promised where they only run: they share a core, its clock and its caches with the others.",
    remedy: "Call the engine from one thread, with as many threads for prompts as for tokens (-tb equal to -t). Where idle threads spin, let them sleep (no OMP_WAIT_POLICY=active).",
    source: "libgomp manual, OMP_WAIT_POLICY: each calling thread and each team size has threads that wait by spinning; GOMP_SPINCOUNT: they spin less where there are more of them than CPUs",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| kind == StepKind::Caused(Cause::IdleTeam),
    judge,
};

/// From this share of the judged calls' time on, a thread that computes nothing counts.
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
    let waits = case.caused(&RULE).iter().any(|c| c.share >= IGNORED);
    if runs && !waits {
        let (remedy, confidence) = (Remedy::NoIdleTeam, Confidence::Medium);
        return Verdict::Found(Found { evidence, remedy, gains: Vec::new(), confidence });
    }
    case.judge_caused(&RULE, evidence, Remedy::NoIdleTeam, Confidence::High)
}
