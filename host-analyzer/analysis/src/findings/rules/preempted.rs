//! Other programs have the CPUs of the engine's threads.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy, without};
use crate::ladder::StepKind;
use crate::replay::{Cause, Culprit};

pub(super) const RULE: Rule = Rule {
    code: "preempted",
    topic: "other programs",
    title: "Other tasks take the engine's CPUs",
    question: "Why is it slower while something else runs?",
    condition: "Another program had a CPU while a thread of the engine was ready to run there, and the operator ended later for that: at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay without these programs: each operator ends when the last of its threads would have ended. The interval is that of the time without them, over blocks of calls.",
    remedy: "Stop the task, or keep it off these CPUs (taskset, cpuset, isolcpus). A thread of the kernel cannot be stopped: find what makes it work.",
    source: "llama.cpp #6148; scheduler latency as runqlat (bcc) and systing define it",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::Program(_) | Cause::UnknownHolder)),
    judge,
};

/// Programs that are named.
const NAMED: usize = 3;

fn judge(case: &Case<'_>) -> Verdict {
    let culprits = culprits(case);
    let mut evidence = Vec::new();
    if let Some((busiest, part)) = culprits.first() {
        evidence.push(Evidence::new("task", Value::Name(busiest.program().to_owned()), Place::Interference));
        evidence.push(part.clone());
        evidence.push(Evidence::new("task_cpus", Value::Cpus(busiest.cpus.clone()), Place::Interference));
    }
    let named = culprits.iter().take(NAMED).map(|(culprit, _)| *culprit);
    let remedy = without(named, |tasks| Remedy::MoveTasks { tasks });
    match case.judge_caused(&RULE, evidence, remedy, Confidence::High) {
        // There is no program to stop.
        Verdict::Found(_) if culprits.is_empty() => Verdict::NotEnoughData(vec![Requirement::Culprit]),
        verdict => verdict,
    }
}

/// The programs of the ladder in which programs cost most, each with its time per unit.
fn culprits<'a>(case: &'a Case<'_>) -> Vec<(&'a Culprit, Evidence)> {
    let Some(ladder) = case.most_caused(&RULE).map(|caused| caused.ladder) else { return Vec::new() };
    let of = |step: &crate::ladder::Step| match step.kind {
        StepKind::Caused(Cause::Program(id)) => {
            let per_unit = Value::Nanoseconds(u64::try_from(step.ns).unwrap_or(0) / ladder.units.max(1));
            let part = Evidence::per(ladder.question, "task_ns", per_unit, Place::Interference);
            Some((case.analysis.replay.culprit(id)?, part))
        }
        _ => None,
    };
    ladder.steps.iter().filter_map(of).collect()
}
