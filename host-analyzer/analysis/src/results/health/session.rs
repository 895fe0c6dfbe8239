//! Parts of the plan that did not take effect: probes, counters, levels.

use super::experts;
use super::remark::Remark;
use crate::results::counter::Absent;
use profinfer_trace::model::{Counter, DecodeFunction, Level, Model, Probe};

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

/// Counters that do not count, and spans without the counts of working counters.
pub(super) fn counters(model: &Model, found: &mut Vec<Remark>) {
    let all = &model.session.counters;
    // A profile for many boards requests core types that this board lacks. The state of the counter
    // on the existing cores is enough.
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

/// `traced`: whether anything was traced. If not, one remark covers all levels.
pub(super) fn levels(model: &Model, traced: bool, found: &mut Vec<Remark>) {
    let requested = &model.session.levels;
    // Without a session record, the levels are unknown.
    if requested.is_empty() {
        return;
    }
    // A model without experts lacks no experts. Recordings of earlier agents have no scheduler
    // level, and nobody excluded it.
    let routed = experts::model_has_routers(model);
    let worth_a_remark = |l: &Level| match l {
        Level::Expert => routed,
        Level::Sched => false,
        _ => true,
    };
    let off: Vec<Level> =
        Level::ALL.into_iter().filter(|l| !requested.contains(l) && worth_a_remark(l)).collect();
    if !off.is_empty() {
        found.push(Remark::Off(off));
    }
    let nothing = [
        (Level::Token, model.llama_calls.function.iter().all(|f| *f == DecodeFunction::Graph)),
        (Level::Graph, model.graph_calls.is_empty()),
        // Lost spans did run.
        (Level::Op, model.spans.is_empty() && model.health.ledger.is_none_or(|l| l.span_ends == 0)),
        (Level::Expert, routed && model.experts.is_empty()),
        (Level::Sched, model.sched.states.is_empty()),
    ];
    for (level, nothing) in nothing {
        // If nothing is attached, another remark reports that, with the reason.
        let of_level = || model.session.probes.iter().filter(|p| p.level == Some(level));
        let attached = of_level().count() == 0 || of_level().any(|p| p.attached);
        if traced && nothing && attached && requested.contains(&level) {
            // A call arrives when it has returned, so the first one may have been under way.
            let cut = model.health.cut_short();
            let graphs = level == Level::Token && !model.graph_calls.is_empty() && !cut;
            found.push(if graphs { Remark::CallsNotSeen } else { Remark::NothingSeen { level, cut } });
        }
    }
}
