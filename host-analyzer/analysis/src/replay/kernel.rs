//! The kernel's own work for page-ins: it makes room for pages, maps them, and reads others ahead.
//!
//! A thread that does this seems to compute, so the time is in that of the operators. /proc counts the time
//! of a process in the kernel. In calls whose threads slept for pages, that of the probes' traps is not
//! for pages; the rest is. The threads that slept have done it: one thread that looks up a row alone, or several at
//! a time.

use std::collections::BTreeMap;

use super::away::{Away, AwayTimes, union};
use super::{CallReplay, Cause};
use crate::shared::rise::rises;
use profinfer_trace::model::{FactScope, Model};

pub(super) fn assign(model: &Model, away: &AwayTimes, calls: &mut [CallReplay]) {
    let in_kernel = rises(model, "kernel_ns", |scope| match scope {
        FactScope::Process(pid) => Some(pid),
        _ => None,
    });
    let blocked = if in_kernel.is_empty() { BTreeMap::new() } else { blocked(model, away) };
    for call in calls.iter_mut().filter(|c| c.caused.get(Cause::Blocked) > 0) {
        let pid = call.pid(model);
        let Some((rises, blocked)) = in_kernel.get(&pid).zip(blocked.get(&pid)) else { continue };
        let bounds = call.bounds(model);
        let (longest, all) = blocked.slept(bounds);
        let work = u128::from(rises.within(bounds)) * u128::from(longest) / u128::from(all.max(1));
        let ns = u64::try_from(work).unwrap_or(u64::MAX).saturating_sub(call.usual.probes);
        call.claim(Cause::Blocked, ns);
    }
}

/// Uninterruptible sleep of the threads of a process, by start.
#[derive(Debug, Default)]
struct Blocked {
    rows: Vec<Away>,
    /// The latest end of each row and those before it, ns: the threads sleep at the same time.
    ends: Vec<u64>,
}

/// By process. Engines may start threads for each graph, so a call does not look at all of them.
fn blocked(model: &Model, away: &AwayTimes) -> BTreeMap<u32, Blocked> {
    let mut of_process: BTreeMap<u32, Blocked> = BTreeMap::new();
    for (id, thread) in model.threads.iter() {
        let rows = away.of(id).iter().filter(|a| a.cause == Cause::Blocked);
        of_process.entry(thread.pid).or_default().rows.extend(rows);
    }
    for Blocked { rows, ends } in of_process.values_mut() {
        rows.sort_by_key(|a| a.start);
        let mut last = 0;
        ends.extend(rows.iter().map(|a| {
            last = a.end.max(last);
            last
        }));
    }
    of_process
}

impl Blocked {
    /// The sleep within a time: in which at least one of the threads slept, and the sum over them, ns.
    fn slept(&self, (from, to): (u64, u64)) -> (u64, u64) {
        let first = self.ends.partition_point(|end| *end <= from);
        let inside = self.rows[first..].iter().take_while(|a| a.start < to).filter(|a| a.end > from);
        let mut rows: Vec<Away> =
            inside.map(|a| Away { start: a.start.max(from), end: a.end.min(to), ..*a }).collect();
        let all = rows.iter().map(|a| a.end - a.start).fold(0, u64::saturating_add);
        (union(&mut rows, (from, to)).get(Cause::Blocked), all)
    }
}
