//! What the engine does for itself between operators, thread by thread.

use std::collections::HashMap;

use profinfer_trace::model::{Housekeeping, HousekeepingKind, Model, ThreadId};

/// Start and end of what each thread did, ns, by start. A thread does one thing at a time.
#[derive(Debug, Default)]
pub(crate) struct OfThreads(HashMap<(u32, u32), Vec<(u64, u64)>>);

impl OfThreads {
    /// Copies of the states of sequences.
    pub(crate) fn copies(model: &Model) -> Self {
        Self::of(model, copies_state)
    }

    /// Allocations of the memory of graphs.
    pub(crate) fn allocations(model: &Model) -> Self {
        Self::of(model, |done| done.kind == HousekeepingKind::AllocateGraph)
    }

    /// Waits until all backends have computed. A process that has any has a backend that computes on its own,
    /// whose threads may be ones of the process, such as those of a driver.
    pub(crate) fn waits(model: &Model) -> Self {
        Self::of(model, |done| done.kind == HousekeepingKind::Synchronize)
    }

    /// Whether there is any of a process.
    pub(crate) fn of_process(&self, pid: u32) -> bool {
        self.0.keys().any(|(of, _)| *of == pid)
    }

    fn of(model: &Model, wanted: impl Fn(&Housekeeping) -> bool) -> Self {
        let mut rows: HashMap<(u32, u32), Vec<(u64, u64)>> = HashMap::new();
        for done in model.housekeeping.iter().filter(|done| wanted(done)) {
            rows.entry((done.pid, done.tid)).or_default().push((done.start_ns, done.end_ns()));
        }
        Self(rows)
    }

    /// Those of a thread in a stretch of time, cut at its ends.
    pub(crate) fn within(
        &self,
        model: &Model,
        thread: ThreadId,
        (from, to): (u64, u64),
    ) -> impl Iterator<Item = (u64, u64)> + '_ {
        let thread = model.threads.get(thread);
        let rows = self.0.get(&(thread.pid, thread.tid)).map_or(&[][..], Vec::as_slice);
        let first = rows.partition_point(|(_, end)| *end <= from);
        let inside = rows[first..].iter().take_while(move |(start, _)| *start < to);
        inside.map(move |(start, end)| ((*start).max(from), (*end).min(to)))
    }
}

/// Whether it copies the state of a sequence, out of the context or back.
pub(crate) fn copies_state(done: &Housekeeping) -> bool {
    matches!(done.kind, HousekeepingKind::SaveState | HousekeepingKind::RestoreState)
}
