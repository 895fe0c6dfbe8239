//! On which CPUs the threads of engines ran one after the other.

use profinfer_trace::model::ThreadId;

/// Time from a thread's first run on a CPU to its last one before it runs on another CPU, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stay {
    pub(super) cpu: u16,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// By thread, by start.
#[derive(Debug)]
pub(super) struct Stays(Vec<Vec<Stay>>);

impl Stays {
    pub(super) fn new(threads: usize) -> Self {
        Self(vec![Vec::new(); threads])
    }

    /// Adds a run of a thread, which is later than its others.
    pub(super) fn add(&mut self, thread: ThreadId, run: Stay) {
        let Some(rows) = self.0.get_mut(thread.0 as usize) else { return };
        match rows.last_mut().filter(|stay| stay.cpu == run.cpu) {
            Some(stay) => stay.end = run.end,
            None => rows.push(run),
        }
    }

    /// When a thread came to `cpu`, on which it runs or waits at `at`, and its stay before. `None` for its
    /// first CPU.
    pub(super) fn came(&self, thread: ThreadId, cpu: u16, at: u64) -> Option<(u64, Stay)> {
        let rows = self.0.get(thread.0 as usize)?;
        let last = rows.partition_point(|stay| stay.start <= at).checked_sub(1)?;
        let stay = rows[last];
        if stay.cpu != cpu {
            // It has not run here yet.
            return Some((at, Stay { end: stay.end.min(at), ..stay }));
        }
        Some((stay.start, rows[last.checked_sub(1)?]))
    }

    /// When a thread that is on its first CPU at `at` came there; `None` of another thread.
    pub(super) fn began(&self, thread: ThreadId, at: u64) -> Option<u64> {
        let rows = self.0.get(thread.0 as usize)?;
        match rows.partition_point(|stay| stay.start <= at) {
            0 => Some(at),
            1 => Some(rows[0].start),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_comes_from_its_stay_before() {
        let thread = ThreadId(0);
        let mut stays = Stays::new(1);
        let stay = |cpu, start, end| Stay { cpu, start, end };
        for run in [stay(0, 10, 20), stay(0, 30, 40), stay(1, 50, 60), stay(0, 90, 100)] {
            stays.add(thread, run);
        }
        stays.add(ThreadId(1), stay(0, 1, 2));
        let first = stay(0, 10, 40);
        assert_eq!([5, 35].map(|at| stays.came(thread, 0, at)), [None, None]);
        assert_eq!(stays.came(thread, 1, 45), Some((45, first)));
        assert_eq!(stays.came(thread, 1, 55), Some((50, first)));
        assert_eq!(stays.came(thread, 0, 70), Some((70, stay(1, 50, 60))));
        assert_eq!(stays.came(thread, 0, 95), Some((90, stay(1, 50, 60))));
        assert_eq!(stays.came(ThreadId(1), 0, 95), None);
        assert_eq!([5, 35, 55].map(|at| stays.began(thread, at)), [Some(5), Some(10), None]);
    }
}
