//! The walk of the threads through one token.

use std::ops::Range;

use super::Costs;
use super::arrival::end;
use super::class::{Allocation, Class, Parts};
use super::lateness::{Causes, Late};
use crate::shared::housekeeping::OfThreads;
use crate::shared::interval::Interval;
use profinfer_trace::model::{Model, ThreadId, WAIT_UNKNOWN};

/// Data that determines the threads of a token.
pub(super) struct ThreadWalk<'a, const SCHED: bool> {
    pub(super) model: &'a Model,
    pub(super) causes: &'a Causes<'a, SCHED>,
    pub(super) costs: Costs,
    pub(super) interval: &'a Interval,
    /// Waits of threads for other backends.
    pub(super) waits: &'a OfThreads,
    /// The token was completely traced.
    pub(super) traced: bool,
}

impl<const SCHED: bool> ThreadWalk<'_, SCHED> {
    /// Assigns the time up to `t`, in which `thread` was busy with `rest`; its voluntary sleep is
    /// of the class `sleep`.
    fn busy(&self, fill: &mut Allocation, thread: ThreadId, t: u64, rest: Class, sleep: Class) {
        let off = self.causes.off_cpu(thread, fill.at(), t);
        let mut stretch = fill.stretch(t);
        self.causes.give(&mut stretch, off, sleep);
        stretch.rest(rest);
    }

    /// What the calling thread did outside of the backends' graphs: one entry before each graph, in
    /// order, and one after the last.
    pub(super) fn outside(&self) -> Vec<Parts> {
        let thread = self.model.llama_calls.thread[self.interval.call.0 as usize];
        let mut parts = Vec::new();
        let mut from = self.interval.start;
        let ends = self.interval.graphs.iter().map(|g| self.model.graph_calls.bounds(*g));
        // Without any graph, the inside of the call is unknown.
        let inside = if self.interval.graphs.is_empty() { Class::Unknown } else { Class::GraphPreparation };
        // Where other backends compute some of the graphs, it may sleep for them.
        let on_cpu = self.interval.graphs.iter().all(|graph| self.model.computes_on_cpu(*graph));
        let sleep = if on_cpu { Class::Blocked } else { Class::OtherBackend };
        for (start, next) in ends.chain([(self.interval.end, self.interval.end)]) {
            let mut fill = Allocation::new(from, start.max(from));
            let entry = self.interval.entry.min(start);
            self.between_waits(&mut fill, thread, entry, Class::Application, Class::Application);
            self.between_waits(&mut fill, thread, start, inside, sleep);
            parts.push(fill.finish(inside));
            from = from.max(next);
        }
        parts
    }

    /// As [`Self::busy`], where some of the time may be a wait for other backends.
    fn between_waits(&self, fill: &mut Allocation, thread: ThreadId, t: u64, rest: Class, sleep: Class) {
        for (start, end) in self.waits.within(self.model, thread, (fill.at(), t)) {
            self.busy(fill, thread, start, rest, sleep);
            self.busy(fill, thread, end, Class::OtherBackend, Class::OtherBackend);
        }
        self.busy(fill, thread, t, rest, sleep);
    }

    /// A thread in a graph of another backend, with its spans there.
    pub(super) fn other_backend(
        &self,
        fill: &mut Allocation,
        thread: ThreadId,
        own: Range<usize>,
        until: u64,
    ) {
        for i in own {
            fill.until(self.model.spans.start_ns[i], Class::OtherBackend);
            let stop = end(&self.model.spans, i);
            self.busy(fill, thread, stop, Class::Work, Class::OtherBackend);
        }
        fill.until(until, Class::OtherBackend);
    }

    /// From the release of the previous barrier to the end of a span.
    #[inline]
    pub(super) fn span(&self, fill: &mut Allocation, thread: ThreadId, i: usize) {
        let (spans, causes) = (&self.model.spans, self.causes);
        let (start, stop) = (spans.start_ns[i], end(spans, i));
        // The probes' time outside of the first operator is at the graph's start.
        self.between(fill, thread, start);
        // Without end probes, its sleep at the barrier is also in the span.
        let (work, sleep) = match causes.ends() {
            true => (Class::Work, Class::Blocked),
            false => (Class::WorkAndWait, Class::WorkAndWait),
        };
        let off = causes.off_cpu(thread, fill.at(), stop);
        let mut stretch = fill.stretch(stop);
        causes.give(&mut stretch, off, sleep);
        if SCHED {
            let interrupts = if spans.migrated[i] { 0 } else { causes.interrupts_of(i, start, stop) };
            stretch.give(Class::Interrupted, interrupts);
        }
        stretch.give(Class::Probes, self.costs.inside);
        stretch.rest(work);
    }

    /// From the end of a span to the release of its barrier; `next` is the thread's next start.
    #[inline]
    pub(super) fn behind(
        &self,
        fill: &mut Allocation,
        span: usize,
        next: u64,
        release: u64,
        late: &Late<SCHED>,
    ) {
        if self.model.spans.wait_ns[span] == WAIT_UNKNOWN {
            let left_out = self.causes.between == Class::NotTraced;
            fill.until(next, if left_out { Class::NotTraced } else { Class::Unknown });
            return;
        }
        late.shares.give(fill.stretch(release.min(next)));
    }

    /// From the release of a barrier to the next start.
    #[inline]
    pub(super) fn between(&self, fill: &mut Allocation, thread: ThreadId, until: u64) {
        let off = self.causes.off_cpu(thread, fill.at(), until);
        let mut stretch = fill.stretch(until);
        self.causes.give(&mut stretch, off, Class::Blocked);
        stretch.give(Class::Probes, self.costs.outside);
        stretch.rest(self.causes.between);
    }
}
