//! How the agent itself is scheduled while a session runs.
//!
//! Where the engine's threads have every CPU, the agent gets one only when the scheduler takes it from them. It asks for
//! little and must have it soon: a small model fills the ring buffer in some tenths of a second. So the agent has the highest
//! weight that a task without a fixed priority can have, and where the engine's threads are kept to some CPUs, it stays on the others.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::sys::priority;

/// The nice value of a session: the lowest that there is (sched(7)).
const NICE: i32 = -20;

/// The agent's scheduling in a session. When it is dropped, everything is as before.
#[derive(Debug)]
pub(super) struct Scheduling {
    nice: Option<i32>,
    /// The CPUs that the agent was given, and those that it has by now.
    all: Option<CpuSet>,
    own: Option<CpuSet>,
}

impl Scheduling {
    /// Takes effect at once. Begin it when the engine was started: a child would inherit it. What the kernel does not allow is left
    /// as it is: then more may be lost, which is counted.
    pub(super) fn begin() -> Self {
        let before = priority::nice();
        let nice = priority::set_nice(NICE).ok().map(|()| before);
        let all = sched_getaffinity(Pid::from_raw(0)).ok();
        Self { nice, all, own: all }
    }

    /// Leaves the CPUs on which these threads, which compute, may run, if any others are left.
    pub(super) fn leave_cpus_to(&mut self, threads: impl Iterator<Item = u32>) {
        let Some(all) = self.all else { return };
        let mut theirs = CpuSet::new();
        for tid in threads {
            // A thread that has ended has none.
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
        // What was allowed before is allowed again.
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
        // There is room: it came out of a set.
        let _ = set.set(cpu);
    }
    set
}

fn either(a: &CpuSet, b: &CpuSet) -> CpuSet {
    of(cpus(a).chain(cpus(b)))
}

/// Those of `all` that are not in `taken`; `None` when there are none.
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
        // A thread that may run wherever the agent may leaves nothing.
        scheduling.leave_cpus_to(std::iter::once(std::process::id()));
        assert_eq!(sched_getaffinity(Pid::from_raw(0)), all);
        drop(scheduling);
        assert_eq!((priority::nice(), sched_getaffinity(Pid::from_raw(0))), (nice, all));
    }
}
