//! Threads of the engine are stopped again and again.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "stopped",
    topic: "stop signals",
    title: "The engine is stopped",
    question: "Why does it stand still although nothing else runs?",
    condition: "A thread of the engine was in the stopped state (SIGSTOP, a debugger), or off the CPU while its control group was frozen (read once a second): at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay without the stops.",
    remedy: "Find what sends SIGSTOP (a job manager, a power manager, cpulimit, a debugger), or what freezes the control group (docker pause, Android for applications in the background).",
    source: "signal(7); cpulimit stops processes with SIGSTOP to limit their CPU time; Documentation/admin-guide/cgroup-v2.rst, cgroup.freeze",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::Stopped)),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let frozen = case
        .first_frozen_ns()
        .map(|ns| Evidence::new("frozen_at", Value::Nanoseconds(ns), Place::Conditions));
    case.judge_caused(&RULE, frozen.into_iter().collect(), Remedy::NoStops, Confidence::High)
}
