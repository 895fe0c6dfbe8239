//! Time that a hypervisor took from the CPUs of an engine, as /proc/stat counts it.
//!
//! A thread on such a CPU seems to run, so the time is in that of the operators. While several CPUs
//! are taken at once, the threads that meet lose it once: a call loses what the CPU lost that lost
//! most. While a thread waits, the CPU is taken from those for which it waits: of a call's time, only the part
//! without delays loses any.

use std::collections::HashMap;

use super::{CallReplay, Cause};
use crate::results::fact::Conditions;
use crate::shared::cpu_use::part;
use crate::shared::rise::{Rises, rises};
use profinfer_trace::model::{FactScope, Model};

/// Of the time between two readings, calls have at least one part in this; else nothing shows whether they lost
/// any of it.
const LEAST: u64 = 4;

/// Returns whether calls may have lost time that is not assigned to them.
pub(super) fn assign(model: &Model, conditions: &Conditions, calls: &mut [CallReplay]) -> bool {
    let mut stolen = rises(model, "cpu.steal_ns", |scope| match scope {
        FactScope::Cpu(cpu) => Some(cpu),
        _ => None,
    });
    if stolen.is_empty() {
        return false;
    }
    let mut bounds: Vec<(u64, u64)> = calls.iter().map(|call| call.bounds(model)).collect();
    bounds.sort_unstable_by_key(|(_, end)| *end);
    let mut unknown = false;
    stolen.values_mut().for_each(|rises| unknown |= rises.leave_out(&bounds, LEAST));
    let mut cpus: HashMap<u32, Vec<u16>> = HashMap::new();
    for call in calls {
        let pid = call.pid(model);
        let cpus = cpus.entry(pid).or_insert_with(|| {
            conditions.cpus_of(model, pid).unwrap_or_else(|| stolen.keys().copied().collect())
        });
        let within = |rises: &Rises| rises.within(call.bounds(model));
        let lost = cpus.iter().filter_map(|cpu| stolen.get(cpu)).map(within).max();
        call.claim(Cause::Steal, part(lost.unwrap_or(0), call.undisturbed_ns(), call.time_ns));
    }
    unknown
}
