//! What of the plan did not come about: probes, counters, levels.

use super::experts;
use super::remark::Remark;
use crate::results::counter::Absent;
use profinfer_trace::model::{Counter, Level, Model, Probe};

pub(super) fn probes(model: &Model, found: &mut Vec<Remark>) {
    for level in Level::ALL.map(Some).into_iter().chain([None]) {
        let of_level = || model.session.probes.iter().filter(|p| p.level == level);
        let missing: Vec<&Probe> = of_level().filter(|p| !p.attached).collect();
        if let Some(first) = missing.first() {
            let first = Box::new((*first).clone());
            found.push(Remark::NotAttached { level, missing: missing.len(), all: of_level().count(), first });
        }
    }
}

/// Counters that do not count, and spans for which those that do cannot be told.
pub(super) fn counters(model: &Model, found: &mut Vec<Remark>) {
    let all = &model.session.counters;
    // A profile for many boards asks for types of core that this one has not: what became of the counter on the
    // cores that it has is enough.
    let elsewhere =
        |c: &Counter| c.cpus.is_empty() && all.iter().any(|o| o.name == c.name && !o.cpus.is_empty());
    let off = all.iter().filter(|c| !c.attached && !elsewhere(c)).cloned();
    found.extend(off.map(|Counter { name, pmu, note, .. }| Remark::CounterOff { name, pmu, note }));
    let why = &model.spans.counts.why;
    let absent = Absent::new(why);
    let all = why.len() as u64;
    let some = absent.iter().filter(|(_, n)| *n > 0);
    found.extend(some.map(|(reason, n)| Remark::Uncounted { reason, n, all }));
}

/// `traced`: if nothing was, one remark covers all levels.
pub(super) fn levels(model: &Model, traced: bool, found: &mut Vec<Remark>) {
    let asked = &model.session.levels;
    // Without a session record nothing is known of the levels.
    if asked.is_empty() {
        return;
    }
    // A model without experts misses nothing of them. Recordings of earlier agents have no scheduler level, which nobody
    // asked to leave out.
    let routed = experts::model_has_routers(model);
    let worth_a_word = |l: &Level| match l {
        Level::Expert => routed,
        Level::Sched => false,
        _ => true,
    };
    let off: Vec<Level> = Level::ALL.into_iter().filter(|l| !asked.contains(l) && worth_a_word(l)).collect();
    if !off.is_empty() {
        found.push(Remark::Off(off));
    }
    let nothing = [
        (Level::Token, model.llama_calls.is_empty()),
        (Level::Graph, model.graph_calls.is_empty()),
        // Those that were lost did run.
        (Level::Op, model.spans.is_empty() && model.health.ledger.is_none_or(|l| l.span_ends == 0)),
        (Level::Expert, routed && model.experts.is_empty()),
        (Level::Sched, model.sched.states.is_empty()),
    ];
    for (level, nothing) in nothing {
        // Where nothing is attached, that is what is said, and why.
        let of_level = || model.session.probes.iter().filter(|p| p.level == Some(level));
        let attached = of_level().count() == 0 || of_level().any(|p| p.attached);
        if traced && nothing && attached && asked.contains(&level) {
            found.push(Remark::NothingSeen(level));
        }
    }
}
