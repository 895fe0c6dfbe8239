//! The kernel takes memory from the engine's control group, and lets the engine wait for that.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{self, Ladder, NAMED, Question, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "memory_reclaim",
    topic: "memory of the control group",
    title: "The engine waits for memory of its control group",
    question: "Why does loading take minutes in a container, with idle CPUs and an idle disk?",
    condition: "The control group exceeded its memory.high, or all its tasks waited for memory (memory.pressure), without major page faults; threads slept uninterruptibly inside operators, or the program slept at its start: at least 3 % of the time.",
    formula: "The replay without that sleep. At the start, the sleep, also that inside operators of trial calls; likely at most the time in which all tasks of the group waited for memory, and at least without the sleep inside operators later.",
    remedy: "Raise memory.high and memory.max of the control group (systemd: MemoryHigh=, docker: --memory), or use a smaller model or context.",
    source: "Linux, Documentation/admin-guide/cgroup-v2.rst: memory.high, memory.events, memory.pressure",
    questions: ANY,
    requires: &[Requirement::Ends, Requirement::AllOperators, Requirement::Level(SCHED)],
    steps: |question, kind| match kind {
        StepKind::Caused(Cause::Blocked) => true,
        StepKind::Caused(Cause::Asleep) => question == Question::StartUp,
        _ => false,
    },
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Some(process) = case.process() else { return Verdict::DoesNotApply };
    let group = &process.cgroup;
    let (events, stalled) = (group.memory_high_events.value(), group.memory_stalled_ns.value());
    if events.is_none() && stalled.is_none() {
        // Not a control group of version 2.
        return Verdict::DoesNotApply;
    }
    let (events, stalled) = (events.map_or(0, |rise| rise.whole), stalled.map_or(0, |rise| rise.whole));
    let mut evidence = vec![
        Evidence::new("memory_high_events", Value::Count(events), Place::Conditions),
        Evidence::new("memory_stalled", Value::Nanoseconds(stalled), Place::Conditions),
    ];
    let limits = [("memory_high", &group.memory_high_bytes), ("memory_limit", &group.memory_limit_bytes)];
    for (key, limit) in limits {
        let limit = limit.value().and_then(|limit| limit.get().copied());
        evidence.extend(limit.map(|bytes| Evidence::new(key, Value::Bytes(bytes), Place::Conditions)));
    }
    // Pages that are read again are another cause, with other remedies.
    let faults = process.major_faults.value().map_or(0, |rise| rise.whole);
    if events == 0 && stalled == 0 || faults > 0 {
        return Verdict::RuledOut(evidence);
    }
    let bytes: u64 = case.analysis.weight.iter().map(|w| w.bytes).sum();
    let remedy = Remedy::MoreMemory { bytes };
    let later = case.ladders().map(|l| l.sum(|kind| kind == StepKind::Caused(Cause::Blocked))).sum::<i64>();
    let start = case.ladder(Question::StartUp).and_then(|ladder| start_up(ladder, stalled, later));
    case.judge_caused_and_start(&RULE, evidence, remedy, start)
}

/// What memory saves at the start, if that is enough for a finding.
fn start_up(ladder: &Ladder, stalled_ns: u64, later_ns: i64) -> Option<Gain> {
    let slept = u64::try_from(ladder.sum(|kind| (RULE.steps)(Question::StartUp, kind))).unwrap_or(0);
    let likely_ns = slept.min(stalled_ns);
    if ladder.share(i64::try_from(likely_ns).unwrap_or(i64::MAX)) < NAMED {
        return None;
    }
    // The tasks waited in the calls, too.
    let low_ns = stalled_ns.saturating_sub(u64::try_from(later_ns).unwrap_or(0)).min(likely_ns);
    let gain = ladder::Gain { low_ns, likely_ns, high_ns: slept };
    Some(Gain::of_ladder(ladder, gain))
}
