//! Look-up of the tasks that had a CPU in some time.

use std::collections::HashMap;
use std::ops::Range;

use profinfer_trace::model::{CpuUse, Model, TaskId};

/// Tasks by CPU and time.
#[derive(Debug, Clone)]
pub struct CpuUseIndex<'m> {
    rows: &'m CpuUse,
    gaps: &'m [(u64, u64)],
    cpus: HashMap<u16, Range<usize>>,
    /// Ends of the windows, by row. Windows of a CPU are in order and do not overlap, so their ends
    /// are in order too.
    ends: Vec<u64>,
}

impl<'m> CpuUseIndex<'m> {
    /// The index of a recording; `None` if the use of the CPUs was not recorded.
    #[must_use]
    pub fn new(model: &'m Model) -> Option<Self> {
        let (rows, gaps) = (&model.sched.cpu_use, &model.sched.cpu_use_gaps);
        model.sched.cpu_use_recorded.then(|| {
            let mut end = 0;
            let chunks = rows.cpu.chunk_by(|a, b| a == b).map(|cpu| {
                let start = end;
                end += cpu.len();
                (cpu[0], start..end)
            });
            let cpus = chunks.collect();
            let windows = rows.start_ns.iter().zip(&rows.duration_ns);
            let ends = windows.map(|(start, length)| start.saturating_add(*length)).collect();
            Self { rows, gaps, cpus, ends }
        })
    }

    /// The tasks that had the CPU between two times, with their times in ns. A task comes once per
    /// window. Of a window that is only partly inside, each task has the same share as of the
    /// whole. The idle task is one of them. Time without any task belonged to a thread of a traced
    /// engine or to the idle task, unless it is [unknown](Self::unknown).
    pub fn busy(&self, cpu: u16, from_ns: u64, to_ns: u64) -> impl Iterator<Item = (TaskId, u64)> + 'm {
        self.busy_beside(cpu, from_ns, to_ns, |_, _| 0)
    }

    /// The same where `engine(from, to)` is the time that threads of traced engines had the CPU, ns. It is
    /// known to the nanosecond, so of a window that is only partly inside, each other task has its share of
    /// the time that they left.
    pub fn busy_beside<E: Fn(u64, u64) -> u64>(
        &self,
        cpu: u16,
        from_ns: u64,
        to_ns: u64,
        engine: E,
    ) -> impl Iterator<Item = (TaskId, u64)> + use<'m, E> {
        let rows = self.rows;
        self.between(cpu, from_ns, to_ns).filter_map(move |i| {
            let (start, length) = (rows.start_ns[i], rows.duration_ns[i]);
            let end = start.saturating_add(length);
            let (from, to) = (start.max(from_ns), end.min(to_ns));
            let left = length.saturating_sub(engine(start, end));
            let inside = to.saturating_sub(from).saturating_sub(engine(from, to));
            let busy_ns = part(rows.busy_ns[i], inside.min(left), left);
            (busy_ns > 0).then_some((rows.task[i], busy_ns))
        })
    }

    /// Time between two times that is in windows of `cpu` and not that of traced engines, ns. What of it no
    /// task [had](Self::busy_beside) is unknown.
    pub fn covered_beside(
        &self,
        cpu: u16,
        from_ns: u64,
        to_ns: u64,
        engine: impl Fn(u64, u64) -> u64,
    ) -> u64 {
        let rows = self.between(cpu, from_ns, to_ns);
        let mut windows: Vec<(u64, u64)> = rows.map(|i| (self.rows.start_ns[i], self.ends[i])).collect();
        windows.dedup();
        let inside = |(start, end): (u64, u64)| (start.max(from_ns), end.min(to_ns));
        let left = |(from, to): (u64, u64)| to.saturating_sub(from).saturating_sub(engine(from, to));
        windows.into_iter().map(|window| left(inside(window))).fold(0, u64::saturating_add)
    }

    /// The rows of windows that have a part between two times.
    fn between(&self, cpu: u16, from_ns: u64, to_ns: u64) -> Range<usize> {
        let of_cpu = self.cpus.get(&cpu).cloned().unwrap_or_default();
        let first = self.ends[of_cpu.clone()].partition_point(|end| *end <= from_ns);
        let behind = self.rows.start_ns[of_cpu.clone()].partition_point(|start| *start < to_ns);
        of_cpu.start + first..of_cpu.start + behind
    }

    /// The CPUs on which tasks were seen, in no order.
    pub fn cpus(&self) -> impl Iterator<Item = u16> {
        self.cpus.keys().copied()
    }

    /// Time between two times in which tasks may be missing, because records were lost, ns.
    #[must_use]
    pub fn unknown(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.gaps.iter().map(|(from, to)| to_ns.min(*to).saturating_sub(from_ns.max(*from))).sum()
    }
}

/// `inside / length` of a time, ns.
pub(crate) fn part(busy_ns: u64, inside: u64, length: u64) -> u64 {
    let part = u128::from(busy_ns) * u128::from(inside) / u128::from(length.max(1));
    // Not more than the time itself, because what is inside is not longer than the whole.
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(rows: &[(u16, u64, u64, u32, u64)]) -> Model {
        let mut model = Model::default();
        let sched = &mut model.sched;
        sched.cpu_use_recorded = true;
        for (cpu, start, length, task, busy) in rows {
            sched.cpu_use.cpu.push(*cpu);
            sched.cpu_use.start_ns.push(*start);
            sched.cpu_use.duration_ns.push(*length);
            sched.cpu_use.task.push(TaskId(*task));
            sched.cpu_use.busy_ns.push(*busy);
        }
        sched.cpu_use_gaps = vec![(350, 400), (500, u64::MAX)];
        model
    }

    #[test]
    fn a_part_of_a_window_has_the_same_share_of_each_task() {
        // Task 1 has 60 of CPU 0's first 100 ns, then all of 200; in between nobody was recorded.
        let model = model(&[(0, 0, 100, 1, 60), (0, 0, 100, 2, 40), (0, 150, 200, 1, 200), (3, 0, 10, 2, 5)]);
        let index = CpuUseIndex::new(&model).expect("recorded");
        let busy = |cpu, from, to| index.busy(cpu, from, to).map(|(t, ns)| (t.0, ns)).collect::<Vec<_>>();
        assert_eq!(busy(0, 0, 1000), [(1, 60), (2, 40), (1, 200)]);
        assert_eq!(busy(0, 50, 200), [(1, 30), (2, 20), (1, 50)]);
        assert_eq!(busy(0, 100, 150), []);
        assert_eq!((busy(3, 8, 9), busy(3, 0, 10)), (vec![], vec![(2, 5)]));
        assert_eq!((busy(1, 0, 1000), busy(0, 200, 100)), (vec![], vec![]));
        assert_eq!([(0, 350), (300, 380), (390, 600)].map(|(f, t)| index.unknown(f, t)), [0, 30, 110]);
    }

    #[test]
    fn what_engines_had_is_no_time_of_others() {
        // The engine has the first 40 ns, task 1 all of the rest.
        let model = model(&[(0, 0, 100, 1, 60)]);
        let index = CpuUseIndex::new(&model).expect("recorded");
        let engine = |from: u64, to: u64| to.min(40).saturating_sub(from);
        let busy = |from, to| index.busy_beside(0, from, to, engine).map(|(_, ns)| ns).sum::<u64>();
        assert_eq!([(0, 40), (40, 100), (30, 50), (0, 100)].map(|(f, t)| busy(f, t)), [0, 60, 10, 60]);
        let covered = |from, to| index.covered_beside(0, from, to, engine);
        assert_eq!([(0, 40), (40, 100), (30, 50), (0, 200)].map(|(f, t)| covered(f, t)), [0, 60, 10, 60]);
    }

    #[test]
    fn without_a_record_there_is_no_index() {
        assert!(CpuUseIndex::new(&Model::default()).is_none());
    }
}
