//! Threads of the engine wait for something inside operators.

use super::super::case::SCHED;
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "asleep",
    topic: "sleep inside operators",
    title: "Threads wait inside operators",
    question: "Why are the CPUs idle in the middle of an operator?",
    condition: "Threads of the engine slept inside operators, at no barrier: at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay without this sleep.",
    remedy: "Find what they wait for: a lock of the application or a system call (`perf trace -p PID`, `strace -f -p PID`).",
    source: "offcputime (bcc)",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| kind == StepKind::Caused(Cause::Asleep),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    case.judge_caused(&RULE, Vec::new(), Remedy::FindSleep, Confidence::Medium)
}
