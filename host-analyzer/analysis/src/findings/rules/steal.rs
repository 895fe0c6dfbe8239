//! A hypervisor gives the CPUs to others.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{Ladder, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "steal",
    topic: "steal time",
    title: "A hypervisor takes the CPUs",
    question: "Why is the same virtual machine slower today?",
    condition: "The CPUs of the engine lost time to the hypervisor (steal in /proc/stat): at least 3 % of the time of a token, a prompt or a call of an encoder, on the CPU that lost most.",
    formula: "The replay without that time. Readings are a second apart, so it is spread evenly over the time between two of them, of which calls have to have a quarter.",
    remedy: "Move the virtual machine to a host with less load, or give it reserved CPUs.",
    source: "Documentation/filesystems/proc.rst, steal: involuntary wait of a virtual CPU",
    questions: ANY,
    requires: &[
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Level(SCHED),
        Requirement::Fact("cpu.steal_ns"),
    ],
    steps: |_, kind| kind == StepKind::Caused(Cause::Steal),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let stolen = |cpu: &u16| case.analysis.conditions.cpu(*cpu)?.steal_ns.value().map(|rise| rise.whole);
    let cpus = case.cpus().unwrap_or_default();
    let most = cpus.iter().filter_map(stolen).max();
    let evidence =
        most.map(|ns| Evidence::new("stolen_in_session", Value::Nanoseconds(ns), Place::Conditions));
    let evidence = evidence.into_iter().collect();
    let none = |ladder: &Ladder| ladder.sum(|kind| kind == StepKind::Caused(Cause::Steal)) == 0;
    if case.analysis.replay.steal_unknown && case.ladder(case.calls.question).is_none_or(none) {
        return Verdict::NotEnoughData(vec![Requirement::StealReadings]);
    }
    case.judge_caused(&RULE, evidence, Remedy::ReservedCpus, Confidence::High)
}
