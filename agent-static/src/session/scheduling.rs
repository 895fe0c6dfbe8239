//! How the agent is scheduled during a session.
//!
//! If the engine uses every CPU, the agent runs only when the scheduler preempts an engine thread.
//! It needs little time but needs it soon: a small model fills the ring buffer in a few tenths of a
//! second. So the agent takes the highest weight of a task without real-time priority. If the
//! engine is restricted to some CPUs, the agent stays on the others.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::sys::priority;

/// Nice value during a session: the lowest one (sched(7)).
const NICE: i32 = -20;

/// Scheduling of the agent in a session. Dropping it restores the previous state.
#[derive(Debug)]
pub(super) struct Scheduling {
    nice: Option<i32>,
    /// The CPUs that the agent was given, and those that it uses now.
    all: Option<CpuSet>,
    own: Option<CpuSet>,
}

impl Scheduling {
    /// Takes effect immediately. Call it after the engine was started: a child would inherit it. If
    /// the kernel refuses a setting, it stays as it is; more events may then be lost, and those are
    /// counted.
    pub(super) fn begin() -> Self {
        let before = priority::nice();
        let nice = priority::set_nice(NICE).ok().map(|()| before);
        let all = sched_getaffinity(Pid::from_raw(0)).ok();
        Self { nice, all, own: all }
    }

    /// Avoids the CPUs on which these computing threads may run, if other CPUs are left.
    pub(super) fn leave_cpus_to(&mut self, threads: impl Iterator<Item = u32>) {
        let Some(all) = self.all else { return };
        let mut theirs = CpuSet::new();
        for tid in threads {
            // A thread that has ended has no affinity.
            if let Ok(cpus) = sched_getaffinity(Pid::from_raw(tid.cast_signed())) {
                theirs = either(&theirs, &cpus);
            }
        }
        let others = rest(&all, &theirs).unwrap_or(all);
        if self.own != Some(others) && sched_setaffinity(Pid::from_raw(0), &others).is_ok() {
            self.own = Some(others);
        }
    }
}

impl Drop for Scheduling {
    fn drop(&mut self) {
        // Restoring the previous values is always allowed.
        if let Some(nice) = self.nice {
            let _ = priority::set_nice(nice);
        }
        if let Some(all) = self.all {
            let _ = sched_setaffinity(Pid::from_raw(0), &all);
        }
    }
}

fn cpus(set: &CpuSet) -> impl Iterator<Item = usize> {
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false))
}

fn of(cpus: impl Iterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus {
        // There is room: the number came from a set.
        let _ = set.set(cpu);
    }
    set
}

fn either(a: &CpuSet, b: &CpuSet) -> CpuSet {
    of(cpus(a).chain(cpus(b)))
}

/// The CPUs of `all` that are not in `taken`. `None` if there are none.
fn rest(all: &CpuSet, taken: &CpuSet) -> Option<CpuSet> {
    let rest = of(cpus(all).filter(|cpu| !taken.is_set(*cpu).unwrap_or(false)));
    cpus(&rest).next().map(|_| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_leaves_the_engines_cpus_where_others_are_left() {
        let all = of(0..8);
        assert_eq!(rest(&all, &of(4..8)), Some(of(0..4)));
        assert_eq!(rest(&all, &of(0..16)), None);
        assert_eq!(either(&of(0..2), &of(4..5)), of([0, 1, 4].into_iter()));
    }

    #[test]
    fn afterwards_everything_is_as_before() {
        let (nice, all) = (priority::nice(), sched_getaffinity(Pid::from_raw(0)));
        let mut scheduling = Scheduling::begin();
        // A thread that may run on all CPUs of the agent leaves none.
        scheduling.leave_cpus_to(std::iter::once(std::process::id()));
        assert_eq!(sched_getaffinity(Pid::from_raw(0)), all);
        drop(scheduling);
        assert_eq!((priority::nice(), sched_getaffinity(Pid::from_raw(0))), (nice, all));
    }
}
