//! Time that a hypervisor took from the CPUs of an engine, as /proc/stat counts it.
//!
//! A thread on such a CPU seems to run, so the time is in that of the operators. While several CPUs
//! are taken at once, the threads that meet lose it once: a call loses what the CPU lost that lost
//! most. It is taken from what is unexplained first, then from the uneven split, then from the work.

use std::collections::{BTreeMap, HashMap};

use super::{CallReplay, Cause};
use crate::results::fact::Conditions;
use profinfer_trace::model::{FactScope, FactValue, Model};

/// Readings are this far apart, ns. The agent sends a counter again only when it has risen, which
/// it did since the reading before.
const PERIOD_NS: u64 = 1_100_000_000;

/// Time in which a CPU lost some, ns.
#[derive(Debug)]
struct Stolen {
    from: u64,
    to: u64,
    ns: u64,
}

pub(super) fn assign(model: &Model, conditions: &Conditions, calls: &mut [CallReplay]) {
    let stolen = stolen(model);
    if stolen.is_empty() {
        return;
    }
    let mut cpus: HashMap<u32, Vec<u16>> = HashMap::new();
    for call in calls {
        let row = call.call.0 as usize;
        let pid = model.threads.get(model.llama_calls.thread[row]).pid;
        let cpus = cpus.entry(pid).or_insert_with(|| {
            conditions.cpus_of(model, pid).unwrap_or_else(|| stolen.keys().copied().collect())
        });
        let end = model.llama_calls.start_ns[row].saturating_add(model.llama_calls.duration_ns[row]);
        let time = (end.saturating_sub(call.time_ns), end);
        let lost = cpus.iter().filter_map(|cpu| stolen.get(cpu)).map(|rows| within(rows, time)).max();
        take(call, lost.unwrap_or(0));
    }
}

fn take(call: &mut CallReplay, lost: u64) {
    let mut left = lost;
    let usual = &mut call.usual;
    for part in [
        &mut call.unexplained_ns,
        &mut usual.imbalance,
        &mut usual.work,
        &mut usual.dispatch,
        &mut call.preparation_ns,
        &mut call.application_ns,
    ] {
        let taken = left.min(*part);
        *part -= taken;
        left -= taken;
    }
    call.caused.add(Cause::Steal, lost - left);
    call.alone.add(Cause::Steal, lost - left);
}

/// Stolen time by CPU, in order of time.
fn stolen(model: &Model) -> BTreeMap<u16, Vec<Stolen>> {
    let mut rows: BTreeMap<u16, Vec<Stolen>> = BTreeMap::new();
    let mut last: HashMap<u16, (u64, u64)> = HashMap::new();
    let Some(name) = model.texts.find("cpu.steal_ns") else { return rows };
    for fact in model.facts.rows.iter().filter(|f| f.name == name) {
        let (FactScope::Cpu(cpu), FactValue::Number(total)) = (fact.scope, fact.value) else { continue };
        let before = last.insert(cpu, (fact.at_ns, total));
        let Some((at, before)) = before.filter(|(_, before)| *before < total) else { continue };
        let from = at.max(fact.at_ns.saturating_sub(PERIOD_NS));
        rows.entry(cpu).or_default().push(Stolen { from, to: fact.at_ns, ns: total - before });
    }
    rows
}

/// What was stolen between two times; within a reading it is spread evenly.
fn within(rows: &[Stolen], (from, to): (u64, u64)) -> u64 {
    let first = rows.partition_point(|s| s.to <= from);
    let part = |s: &Stolen| {
        let inside = s.to.min(to).saturating_sub(s.from.max(from));
        let ns = u128::from(s.ns) * u128::from(inside) / u128::from((s.to - s.from).max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    };
    rows[first..].iter().take_while(|s| s.from < to).map(part).sum()
}
