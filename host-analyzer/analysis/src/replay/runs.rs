//! When threads of engines had a CPU.

use profinfer_trace::model::ThreadId;

/// Time in which a thread of an engine ran, ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) thread: ThreadId,
}

/// Runs on one CPU, by start.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// They do not overlap, so their ends are in order too.
    pub(super) rows: Vec<Run>,
    /// Sum of the times before each of them, ns.
    before: Vec<u64>,
}

impl Runs {
    /// Those that have a part between two times, with the part's length in ns.
    pub(super) fn between(&self, from: u64, to: u64) -> impl Iterator<Item = (ThreadId, u64)> {
        let first = self.rows.partition_point(|r| r.end <= from);
        let rows = self.rows[first..].iter().take_while(move |r| r.start < to);
        rows.map(move |r| (r.thread, r.end.min(to).saturating_sub(r.start.max(from))))
    }

    /// Their time up to `at`, ns.
    pub(super) fn until(&self, at: u64) -> u64 {
        let behind = self.rows.partition_point(|r| r.start < at);
        let last = behind.checked_sub(1).map(|i| (self.before[i], self.rows[i]));
        last.map_or(0, |(before, r)| before.saturating_add(r.end.min(at).saturating_sub(r.start)))
    }

    pub(super) fn sort(&mut self) {
        self.rows.sort_by_key(|r| r.start);
        let mut sum = 0u64;
        let mut next = |r: &Run| {
            let after = sum.saturating_add(r.end.saturating_sub(r.start));
            std::mem::replace(&mut sum, after)
        };
        self.before = self.rows.iter().map(&mut next).collect();
    }
}
