//! The task that had a CPU while a missed switch hides it.
//!
//! The kernel calls no program for some switches. Then it is known which task got the CPU before and which left it
//! after, but not when the one left it to the other: none of them is given the time (bpf/cpu_use.bpf.c). Where one
//! task had most of the CPU before that time and after it, it had it then.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use profinfer_trace::model::{Model, TaskId};

/// Known time on each side from which the task that has the CPU is known, ns: as long as a window of the use of the
/// CPUs.
const AROUND_NS: u64 = 10_000_000;

/// Most windows on each side in which it is looked for: a recording may have any number of windows without tasks.
const NEAR: usize = 64;

/// A window most of whose time is in no task's, and whose it was, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Missed {
    start: u64,
    end: u64,
    task: TaskId,
}

/// Such times by CPU, in order.
#[derive(Debug, Default)]
pub(super) struct MissedSwitches(HashMap<u16, Vec<Missed>>);

/// A window of a CPU, with the rows of its tasks.
struct Window {
    cpu: u16,
    start: u64,
    end: u64,
    rows: Range<usize>,
}

impl MissedSwitches {
    /// `followed` are the threads of engines, by thread id.
    pub(super) fn new(model: &Model, followed: &HashSet<u32>) -> Self {
        let rows = &model.sched.cpu_use;
        let windows = windows(model);
        let of_others = |i: &usize| !followed.contains(&model.sched.tasks[rows.task[*i].0 as usize].tid);
        let known = |window: &Window| {
            let tasks = window.rows.clone().filter(of_others);
            tasks.map(|i| (rows.task[i], rows.busy_ns[i])).collect::<Vec<_>>()
        };
        let mut new = Self::default();
        for (i, window) in windows.iter().enumerate() {
            let length = window.end.saturating_sub(window.start);
            let all: u64 = window.rows.clone().map(|i| rows.busy_ns[i]).sum();
            if all > length / 2 {
                continue;
            }
            let of_cpu = |other: &&Window| other.cpu == window.cpu;
            let before = leading(windows[..i].iter().rev().take(NEAR).take_while(of_cpu).flat_map(known));
            let after = leading(windows[i + 1..].iter().take(NEAR).take_while(of_cpu).flat_map(known));
            let same = before.filter(|task| after == Some(*task));
            if let Some(task) = same.filter(|task| model.sched.tasks[task.0 as usize].tid != 0) {
                let missed = Missed { start: window.start, end: window.end, task };
                new.0.entry(window.cpu).or_default().push(missed);
            }
        }
        new
    }

    /// The windows that have a part between two times: the task and the part, from and to, ns.
    pub(super) fn between(
        &self,
        cpu: u16,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (TaskId, u64, u64)> + '_ {
        let of_cpu = self.0.get(&cpu).map_or(&[][..], Vec::as_slice);
        let first = of_cpu.partition_point(|m| m.end <= from);
        let inside = of_cpu[first..].iter().take_while(move |m| m.start < to);
        inside.map(move |m| (m.task, m.start.max(from), m.end.min(to)))
    }
}

/// The windows by CPU, then start.
fn windows(model: &Model) -> Vec<Window> {
    let rows = &model.sched.cpu_use;
    let mut windows: Vec<Window> = Vec::new();
    for i in 0..rows.len() {
        let (cpu, start) = (rows.cpu[i], rows.start_ns[i]);
        match windows.last_mut() {
            Some(last) if last.cpu == cpu && last.start == start => last.rows.end = i + 1,
            _ => {
                let end = start.saturating_add(rows.duration_ns[i]);
                windows.push(Window { cpu, start, end, rows: i..i + 1 });
            }
        }
    }
    windows
}

/// The task that has more than half of the first [`AROUND_NS`].
fn leading(tasks: impl Iterator<Item = (TaskId, u64)>) -> Option<TaskId> {
    let (mut sums, mut all): (Vec<(TaskId, u64)>, u64) = (Vec::new(), 0);
    for (task, ns) in tasks {
        match sums.iter_mut().find(|(of, _)| *of == task) {
            Some((_, sum)) => *sum = sum.saturating_add(ns),
            None => sums.push((task, ns)),
        }
        all = all.saturating_add(ns);
        if all >= AROUND_NS {
            break;
        }
    }
    sums.into_iter().find(|(_, ns)| *ns > all / 2).map(|(task, _)| task)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{Task, Text};

    const MS: u64 = 1_000_000;

    /// Windows of CPU 1: length, and a task with its time. Tasks have their number as id; 9 is a thread of the engine.
    fn missed(windows: &[(u64, u32, u64)]) -> Vec<(u32, u64, u64)> {
        let mut model = Model::default();
        for tid in 0..10 {
            let none = Text::default();
            model.sched.tasks.push(Task { tid, pid: tid, name: none, command: none, cgroup: none });
        }
        let mut at = 0;
        for (length, task, busy) in windows {
            let rows = &mut model.sched.cpu_use;
            rows.cpu.push(1);
            rows.start_ns.push(at);
            rows.duration_ns.push(length * MS);
            rows.task.push(TaskId(*task));
            rows.busy_ns.push(busy * MS);
            at += length * MS;
        }
        let found = MissedSwitches::new(&model, &HashSet::from([9]));
        found.between(1, 0, u64::MAX).map(|(task, from, to)| (task.0, from / MS, to / MS)).collect()
    }

    #[test]
    fn the_task_before_and_after_had_the_cpu() {
        assert_eq!(missed(&[(20, 7, 20), (70, 7, 0), (15, 7, 15)]), [(7, 20, 90)]);
        // Two of them; a short task; the engine in between.
        let two = [(20, 7, 20), (70, 7, 0), (30, 7, 0), (1, 3, 1), (10, 9, 10), (15, 7, 15)];
        assert_eq!(missed(&two), [(7, 20, 90), (7, 90, 120)]);
    }

    #[test]
    fn another_task_or_an_idle_cpu_tells_nothing() {
        assert_eq!(missed(&[(20, 7, 20), (70, 7, 0), (15, 3, 15)]), []);
        assert_eq!(missed(&[(20, 0, 20), (70, 7, 0), (15, 0, 15)]), []);
        assert_eq!(missed(&[(70, 7, 0), (15, 7, 15)]), []);
        assert_eq!(missed(&[(20, 7, 20), (70, 7, 0)]), []);
        // Most of it is known.
        assert_eq!(missed(&[(20, 7, 20), (70, 7, 60), (15, 7, 15)]), []);
    }
}
