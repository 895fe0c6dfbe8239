//! Threads of the engine are stopped again and again.

use super::super::case::SCHED;
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "stopped",
    topic: "stop signals",
    title: "The engine is stopped by signals",
    question: "Why does it stand still although nothing else runs?",
    condition: "A thread of the engine was in the stopped state (SIGSTOP, a debugger, a freezer that uses signals): at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay without the stops.",
    remedy: "Find what sends SIGSTOP: a job manager, a power manager, cpulimit, a debugger.",
    source: "signal(7); cpulimit stops processes with SIGSTOP to limit their CPU time",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| matches!(kind, StepKind::Caused(Cause::Stopped)),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    case.judge_caused(&RULE, Vec::new(), Remedy::NoStops, Confidence::High)
}
