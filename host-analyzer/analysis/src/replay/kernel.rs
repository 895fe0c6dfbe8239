//! The kernel's own work for page-ins: it makes room for pages, maps them, and reads others ahead.
//!
//! A thread that does this seems to compute, so the time is in that of the operators. /proc counts the time
//! of a process in the kernel. In calls whose threads slept for pages, that of the probes' traps is not
//! for pages; the rest is. The threads that slept have done it: one thread that looks up a row alone, or several at
//! a time.

use super::away::{Away, AwayTimes, union};
use super::rise::rises;
use super::{CallReplay, Cause};
use profinfer_trace::model::{FactScope, Model, ThreadId};

pub(super) fn assign(model: &Model, away: &AwayTimes, calls: &mut [CallReplay]) {
    let in_kernel = rises(model, "kernel_ns", |scope| match scope {
        FactScope::Process(pid) => Some(pid),
        _ => None,
    });
    for call in calls.iter_mut().filter(|c| c.caused.get(Cause::Blocked) > 0) {
        let pid = call.pid(model);
        let Some(rises) = in_kernel.get(&pid) else { continue };
        let bounds = call.bounds(model);
        let threads = model.threads.iter().filter(|(_, t)| t.pid == pid).map(|(id, _)| id);
        let (longest, all) = slept(away, threads, bounds);
        let work = u128::from(rises.within(bounds)) * u128::from(longest) / u128::from(all.max(1));
        let ns = u64::try_from(work).unwrap_or(u64::MAX).saturating_sub(call.usual.probes);
        call.claim(Cause::Blocked, ns);
    }
}

/// Uninterruptible sleep within a time: in which at least one of the threads slept, and the sum over them, ns.
fn slept(away: &AwayTimes, threads: impl Iterator<Item = ThreadId>, (from, to): (u64, u64)) -> (u64, u64) {
    let (mut rows, mut all) = (Vec::new(), 0_u64);
    for thread in threads {
        let of = away.of(thread);
        let inside = of[of.partition_point(|a| a.end <= from)..].iter().take_while(|a| a.start < to);
        for a in inside.filter(|a| a.cause == Cause::Blocked) {
            let (start, end) = (a.start.max(from), a.end.min(to));
            all = all.saturating_add(end - start);
            rows.push(Away { start, end, ..*a });
        }
    }
    (union(&mut rows, (from, to)).get(Cause::Blocked), all)
}
