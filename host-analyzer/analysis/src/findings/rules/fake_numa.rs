//! Memory banks of a Raspberry Pi 5 are used one after the other.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;

pub(super) const RULE: Rule = Rule {
    code: "fake_numa",
    topic: "memory banks",
    title: "Memory banks are not interleaved",
    question: "Why is a Pi 5 slower than others of its kind?",
    condition: "The board is a Raspberry Pi 5, and its kernel runs without NUMA emulation (`numa=fake=N`), so that one memory bank after the other is used.",
    formula: "No time is promised: how often two accesses want the same bank is not recorded. 6 % in single-threaded and 18 % in multi-threaded Geekbench 6 were reported.",
    remedy: "Update the boot EEPROM and boot with numa=fake=4 or 8; with SDRAM_BANKLOW=1 a kernel without it is 45 % slower.",
    source: "raspberrypi/linux #6273, raspberrypi/firmware #1854, rpi-eeprom #733",
    questions: ANY,
    requires: &[Requirement::Calls(MIN_CALLS), Requirement::Fact("numa.nodes")],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let session = &case.model.session;
    if !(session.board.contains("rpi5") || session.cpu_model.contains("BCM2712")) {
        return Verdict::DoesNotApply;
    }
    let system = &case.analysis.conditions.system;
    let nodes = system.numa_nodes.value().copied().unwrap_or(0);
    let mut evidence = vec![Evidence::new("numa_nodes", Value::Count(nodes), Place::Conditions)];
    for option in system.kernel_options.value().into_iter().flatten().filter(|o| o.contains("numa")) {
        evidence.push(Evidence::new("kernel_option", Value::Name(option.clone()), Place::Conditions));
    }
    if nodes != 1 {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::FakeNuma,
        gains: Vec::new(),
        confidence: Confidence::Medium,
    })
}
