//! Who had a CPU in a window.

use super::parse::name;
use super::{TASK_COMM, Who};
use crate::bpf::layout::types::limit;
use crate::bpf::layout::{View, field, field_bytes, types};

/// Windows are not sent if tasks other than the engine had the CPU for less, ns.
pub const CPU_USE_LEAST_NS: u64 = limit::CPU_USE_LEAST.0 as u64;

/// A window of a CPU. Time that no task had is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuUse {
    pub cpu: u32,
    pub from_ns: u64,
    pub to_ns: u64,
    /// Time of the idle task.
    pub idle_ns: u64,
    /// Time of tasks that are not distinguished.
    pub others_ns: u64,
    tasks: [(Who, u64); Self::TASKS],
}

/// A place without a task.
const FREE: (Who, u64) = (Who::Other(0, [0; TASK_COMM]), 0);

impl CpuUse {
    /// Tasks that are distinguished in one window.
    pub const TASKS: usize = limit::CPU_USE_TASKS.0 as usize;

    /// A window in which the CPU was idle for some time.
    #[must_use]
    pub const fn idle(cpu: u32, from_ns: u64, to_ns: u64, idle_ns: u64) -> Self {
        Self { cpu, from_ns, to_ns, idle_ns, others_ns: 0, tasks: [FREE; Self::TASKS] }
    }

    /// The tasks of the window, with their times in ns.
    pub fn tasks(&self) -> impl Iterator<Item = (Who, u64)> {
        self.tasks.into_iter().filter(|place| *place != FREE)
    }

    /// Adds time of a task, ns.
    pub fn add(&mut self, who: Who, busy_ns: u64) {
        if matches!(who, Who::Other(0, _)) {
            self.idle_ns += busy_ns;
            return;
        }
        // A task may have another name by now.
        let same = |place: &Who| match (place, &who) {
            (Who::Other(a, _), Who::Other(b, _)) => a == b,
            (a, b) => a == b,
        };
        let known = self.tasks.iter().position(|(place, _)| same(place));
        if let Some(at) = known.or_else(|| self.tasks.iter().position(|place| *place == FREE)) {
            self.tasks[at] = (who, self.tasks[at].1 + busy_ns);
            return;
        }
        // As in the programs: the least of the others goes, and an engine's thread always stays.
        let others = self.tasks.iter_mut().filter(|(who, _)| matches!(who, Who::Other(..)));
        let Some(least) = others.min_by_key(|(_, ns)| *ns) else { return };
        if matches!(who, Who::Other(..)) && least.1 >= busy_ns {
            self.others_ns += busy_ns;
        } else {
            self.others_ns += std::mem::replace(least, (who, busy_ns)).1;
        }
    }

    /// Parses an `event_cpu_use` of this CPU.
    pub(in crate::bpf) fn read(cpu: u32, b: &[u8]) -> Option<Self> {
        let b = View::new(b)?;
        let places = field_bytes!(b, event_cpu_use.tasks)?;
        let mut tasks = [FREE; Self::TASKS];
        for (task, place) in tasks.iter_mut().zip(places.chunks_exact(size_of::<types::cpu_use_task>())) {
            *task = one(place)?;
        }
        Some(Self {
            cpu,
            from_ns: field!(b, event_cpu_use.from_ns)?,
            to_ns: field!(b, event_cpu_use.to_ns)?,
            idle_ns: field!(b, event_cpu_use.idle_ns)?,
            others_ns: field!(b, event_cpu_use.others_ns)?,
            tasks,
        })
    }
}

fn one(place: &[u8]) -> Option<(Who, u64)> {
    let b = View::new(place)?;
    let (tid, tgid) = (field!(b, cpu_use_task.tid)?, field!(b, cpu_use_task.tgid)?);
    let who = match (field!(b, cpu_use_task.pid)?, tgid) {
        (0, _) => return Some(FREE),
        (_, 0) => Who::Other(tid, name(field_bytes!(b, cpu_use_task.comm)?)?),
        _ => Who::Engine(tgid, tid),
    };
    Some((who, field!(b, cpu_use_task.busy_ns)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_under_a_new_name_keeps_its_place_and_an_eighth_one_has_none() {
        let other = |tid, letter| Who::Other(tid, [letter; TASK_COMM]);
        let mut window = CpuUse::idle(0, 0, 100, 5);
        for tid in 1..=8 {
            window.add(other(tid, b'a'), 10);
        }
        window.add(other(3, b'b'), 1);
        window.add(other(0, 0), 2);
        assert_eq!((window.idle_ns, window.others_ns, window.tasks().count()), (7, 10, 7));
        assert_eq!(window.tasks().nth(2), Some((other(3, b'b'), 11)));
        // The task with the least time gives its place to one with more, or to an engine's thread.
        window.add(other(9, b'a'), 30);
        window.add(Who::Engine(50, 51), 1);
        let tasks: Vec<_> = window.tasks().collect();
        assert_eq!((tasks[0], tasks[1]), ((other(9, b'a'), 30), (Who::Engine(50, 51), 1)));
        assert_eq!((window.others_ns, tasks.len()), (30, 7));
    }
}
