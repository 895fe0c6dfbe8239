//! One thread's way through one token.

use std::ops::Range;

use super::arrival::{Meetings, end};
use super::class::{Class, Fill, Parts};
use super::interval::Interval;
use super::lateness::{Causes, Lateness};
use super::{Costs, is_cpu};
use crate::model::{GraphCallId, Model, ThreadId, WAIT_UNKNOWN};

/// A graph call of the CPU backend, as all its threads need it.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) meetings: Meetings,
    pub(super) lateness: Lateness,
    /// Rows of its spans.
    pub(super) rows: Range<usize>,
}

/// What the calling thread did before each backend's call and behind the last one.
pub(super) struct Outside {
    parts: Vec<Parts>,
}

impl Outside {
    /// In order: one before each backend's call, one behind the last.
    pub(super) fn gaps(&self) -> &[Parts] {
        &self.parts
    }
}

pub(super) struct Way<'a, const SCHED: bool> {
    pub(super) model: &'a Model,
    pub(super) causes: &'a Causes<'a, SCHED>,
    pub(super) costs: Costs,
    pub(super) interval: &'a Interval,
    /// The token's operators were captured whole.
    pub(super) traced: bool,
    /// In the order of the interval's graphs; empty rows for other backends.
    pub(super) calls: &'a [Call],
}

impl<const SCHED: bool> Way<'_, SCHED> {
    /// Start and end of a graph call, ns.
    pub(super) fn graph(&self, call: GraphCallId) -> (u64, u64) {
        let calls = &self.model.graph_calls;
        let start = calls.start_ns[call.0 as usize];
        (start, start.saturating_add(calls.duration_ns[call.0 as usize]))
    }

    /// Gives the time up to `t`, in which `thread` was busy with `rest`; its own sleep in it is of the class `sleep`.
    fn busy(&self, fill: &mut Fill, thread: ThreadId, t: u64, rest: Class, sleep: Class) {
        let off = self.causes.off_cpu(thread, fill.at(), t);
        let mut stretch = fill.stretch(t);
        self.causes.give(&mut stretch, off, sleep);
        stretch.rest(rest);
    }

    /// The calling thread outside of the backends' graphs.
    pub(super) fn outside(&self) -> Outside {
        let thread = self.model.decodes.thread[self.interval.call.0 as usize];
        let mut parts = Vec::new();
        let mut from = self.interval.start;
        let ends = self.interval.graphs.iter().map(|g| self.graph(*g));
        // Without any graph nothing is known of the inside of the call.
        let inside = if self.interval.graphs.is_empty() { Class::Unknown } else { Class::GraphPreparation };
        for (start, next) in ends.chain([(self.interval.end, self.interval.end)]) {
            let mut fill = Fill::new(from, start.max(from));
            let entry = self.interval.entry.min(start);
            self.busy(&mut fill, thread, entry, Class::Application, Class::Application);
            self.busy(&mut fill, thread, start, inside, Class::Blocked);
            parts.push(fill.finish(inside));
            from = from.max(next);
        }
        Outside { parts }
    }

    /// One thread's time by class: in the sum the interval's.
    pub(super) fn of(&self, thread: ThreadId, outside: &Outside) -> Parts {
        let mut fill = Fill::new(self.interval.start, self.interval.end);
        for ((graph, call), gap) in self.interval.graphs.iter().zip(self.calls).zip(&outside.parts) {
            let (start, end) = self.graph(*graph);
            fill.copy(start, gap);
            let own = own_rows(self.model, call, thread);
            if !self.traced {
                fill.until(end, Class::NotTraced);
            } else if !is_cpu(self.model, *graph) {
                self.other_backend(&mut fill, thread, own, end);
            } else if own.is_empty() {
                let alone = call.meetings.rows.iter().all(|m| m.threads == 1);
                let known = alone && !call.rows.is_empty();
                fill.until(end, if known { Class::WaitOneThread } else { self.causes.unseen() });
            } else {
                self.cpu(&mut fill, thread, call, own, end);
            }
        }
        if let Some(gap) = outside.parts.last() {
            fill.copy(self.interval.end, gap);
        }
        fill.finish(Class::Unknown)
    }

    fn other_backend(&self, fill: &mut Fill, thread: ThreadId, own: Range<usize>, until: u64) {
        for i in own {
            fill.until(self.model.spans.start_ns[i], Class::OtherBackend);
            let stop = end(&self.model.spans, i);
            self.busy(fill, thread, stop, Class::Work, Class::OtherBackend);
        }
        fill.until(until, Class::OtherBackend);
    }

    fn cpu(&self, fill: &mut Fill, thread: ThreadId, call: &Call, own: Range<usize>, until: u64) {
        let (spans, causes) = (&self.model.spans, self.causes);
        // Without ends its sleep at the barrier is in the span, too.
        let (work, sleep) = match causes.ends() {
            true => (Class::Work, Class::Blocked),
            false => (Class::WorkAndWait, Class::WorkAndWait),
        };
        // The probes' own time outside of the first operator lies in the graph's start.
        for i in own.clone() {
            let (start, stop) = (spans.start_ns[i], end(spans, i));
            self.between(fill, thread, start);
            let off = causes.off_cpu(thread, fill.at(), stop);
            let interrupts = match spans.migrated[i] {
                true => 0,
                false => causes.interrupts(spans.cpu[i], start, stop),
            };
            let mut stretch = fill.stretch(stop);
            causes.give(&mut stretch, off, sleep);
            stretch.give(Class::Interrupted, interrupts);
            stretch.give(Class::Probes, self.costs.inside);
            stretch.rest(work);
            self.behind(fill, call, i, if i + 1 < own.end { spans.start_ns[i + 1] } else { until });
        }
        self.between(fill, thread, until);
    }

    /// From the end of a span to the release of its barrier; `next` is the thread's next start.
    #[inline]
    fn behind(&self, fill: &mut Fill, call: &Call, span: usize, next: u64) {
        if self.model.spans.wait_ns[span] == WAIT_UNKNOWN {
            let left_out = self.causes.between == Class::NotTraced;
            fill.until(next, if left_out { Class::NotTraced } else { Class::Unknown });
            return;
        }
        let row = call.meetings.of_span()[span - call.rows.start] as usize;
        let release = call.meetings.rows[row].release.min(next);
        wait(fill, release, &call.lateness, row);
    }

    /// From the release of a barrier to the next start.
    #[inline]
    fn between(&self, fill: &mut Fill, thread: ThreadId, until: u64) {
        let off = self.causes.off_cpu(thread, fill.at(), until);
        let mut stretch = fill.stretch(until);
        self.causes.give(&mut stretch, off, Class::Blocked);
        stretch.give(Class::Probes, self.costs.outside);
        stretch.rest(self.causes.between);
    }
}

/// Gives the wait up to the release of the barrier to the causes for which the last arriver was late.
#[inline]
fn wait(fill: &mut Fill, release: u64, late: &Lateness, row: usize) {
    let mut stretch = fill.stretch(release);
    let wait = stretch.left();
    stretch.give_all(late.of(row, wait));
    if stretch.left() > 0 {
        stretch.rest(late.main(row));
    }
}

fn own_rows(model: &Model, call: &Call, thread: ThreadId) -> Range<usize> {
    // The spans of a call are in the order of threads.
    let column = &model.spans.thread[call.rows.clone()];
    let from = column.partition_point(|t| *t < thread);
    let to = column.partition_point(|t| *t <= thread);
    call.rows.start + from..call.rows.start + to
}
