//! Interrupt handlers take the CPUs of computing threads.

use super::super::case::SCHED;
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "interrupts",
    topic: "interrupts",
    title: "Interrupts take the engine's CPUs",
    question: "Why is it slower while the network or a disk is busy?",
    condition: "Interrupt handlers ran on the CPUs of computing threads, and operators ended later for that: at least 3 % of the time of a token, a prompt or a call of an encoder.",
    formula: "The replay without the interrupts.",
    remedy: "Let other CPUs handle these interrupts (/proc/irq/N/smp_affinity, irqbalance), or keep the engine off the CPUs that do.",
    source: "Documentation/core-api/irq/irq-affinity.rst",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |_, kind| kind == StepKind::Caused(Cause::Interrupts),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    // Kernels may be built without these tracepoints.
    if !case.model.sched.interrupts_recorded {
        return Verdict::NotEnoughData(vec![Requirement::Interrupts]);
    }
    case.judge_caused(&RULE, Vec::new(), Remedy::MoveInterrupts, Confidence::High)
}
