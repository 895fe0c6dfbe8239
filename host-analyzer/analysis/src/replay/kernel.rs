//! The kernel's own work for page-ins: it makes room for pages, maps them, and reads others ahead.
//!
//! A thread that does this seems to compute, so the time is in that of the operators. /proc counts the time
//! of a process in the kernel. In calls whose threads slept for pages, that of the probes' traps is not
//! for pages; the rest is.

use super::away::AwayTimes;
use super::rise::rises;
use super::{CallReplay, Cause};
use profinfer_trace::model::{FactScope, Model};

pub(super) fn assign(model: &Model, away: &AwayTimes, calls: &mut [CallReplay]) {
    let in_kernel = rises(model, "kernel_ns", |scope| match scope {
        FactScope::Process(pid) => Some(pid),
        _ => None,
    });
    for call in calls.iter_mut().filter(|c| c.caused.get(Cause::Blocked) > 0) {
        let pid = call.pid(model);
        let Some(rises) = in_kernel.get(&pid) else { continue };
        // The threads of a team share the pages as they share the work.
        let team = away.teams.get(&pid).map_or(1, |n| *n as u64).max(1);
        let ns = (rises.within(call.bounds(model)) / team).saturating_sub(call.usual.probes);
        call.claim(Cause::Blocked, ns);
    }
}
