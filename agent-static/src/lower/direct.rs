//! Operators of direct probes: records without a graph call, among the kernel's events, which have them.
//!
//! The engine's threads pass a barrier before a graph call ends, so whatever belongs to the call is in the rings when the kernel's
//! event of its end comes: that is when they are read. What belongs to calls that run is read at the end of each drain.

use profinfer_wire::record::Record;
use profinfer_wire::record::direct::DirectLoss;
use profinfer_wire::record::graph::layer;

use super::Lower;
use super::graph::Graphs;
use crate::bpf::ring::{Head, Op};
use crate::direct::clock::{Clock, Look};
use crate::direct::{Reader, Totals};
use crate::link::output::Weight;
use crate::sys::direct::layout::SLOTS;
use crate::sys::direct::shared::Raw;

/// How long a record waits for the kernel's event of its graph call, ns: the program that sends it may have lost its CPU.
const GRACE_NS: u64 = 20_000_000;

/// Engines that are recorded directly.
#[derive(Debug, Default)]
pub(super) struct Direct {
    readers: Vec<Reader>,
    clock: Clock,
    /// Of engines whose probes were taken out.
    past: Totals,
    /// Records of calls that ran when the probes came, and of calls that are not known.
    edge: u64,
    unknown: u64,
    clamped: u64,
    /// Records of calls that are not captured, and ends without a start in such.
    gated: u64,
    gated_ends: u64,
    /// Calls of each process, as far as they were seen.
    calls: Vec<Seen>,
    used: Used,
}

/// How far rings and slots were used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used {
    /// Most records that a ring held.
    pub records: u64,
    /// Threads that ended, whose slots are free again.
    pub threads: u64,
}

/// The graph calls of a process.
#[derive(Debug, Clone, Copy)]
struct Seen {
    pid: u32,
    /// When the first one began, ns.
    first_ns: u64,
    /// The operators of the last one are not captured.
    skipped: bool,
    /// Ends without a start until it began.
    no_start: u64,
}

/// What is added to the kernel's totals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Added {
    pub(super) totals: Totals,
    pub(super) edge: u64,
    pub(super) unknown: u64,
    pub(super) gated: u64,
    pub(super) gated_ends: u64,
}

/// A running call as an operator finds it.
#[derive(Debug, Clone, Copy)]
struct Call {
    start_ns: u64,
    /// When it is about to end, `None`: it runs.
    end_ns: Option<u64>,
}

impl Lower {
    /// Begins to read an engine's records.
    pub fn add_direct(&mut self, reader: Reader) {
        if self.direct.readers.is_empty() {
            self.direct.clock.add(Look::now());
        }
        self.direct.readers.push(reader);
        self.direct.calls.reserve(1);
    }

    /// How far the rings and slots were used since this was asked last; `None`: no engine is recorded directly.
    pub fn direct_used(&mut self) -> Option<Used> {
        let used = std::mem::take(&mut self.direct.used);
        (!self.direct.readers.is_empty()).then_some(used)
    }

    /// Notes that a graph call of the CPU began, whose operators may not be captured.
    pub(super) fn direct_begun(&mut self, pid: u32, first_ns: u64, skipped: bool) {
        let direct = &mut self.direct;
        let Some(reader) = direct.readers.iter().find(|r| r.pid == pid) else { return };
        let no_start = reader.totals().no_start;
        match direct.calls.iter_mut().find(|c| c.pid == pid) {
            Some(seen) => {
                if seen.skipped {
                    // An operator ran when recording began, in a call that is not captured.
                    direct.gated_ends += no_start.saturating_sub(seen.no_start);
                }
                (seen.skipped, seen.no_start) = (skipped, no_start);
            }
            None => direct.calls.push(Seen { pid, first_ns, skipped, no_start }),
        }
    }

    /// Reads what belongs to a call of `pid` that ends at `end_ns`.
    pub(super) fn direct_ends(&mut self, pid: u32, start_ns: u64, end_ns: u64) {
        self.read_direct(Some(pid), end_ns, Some((start_ns, end_ns)));
    }

    /// Reads what belongs to running calls. All events of the kernel before `drained_ns` have been lowered.
    pub fn drain_direct(&mut self) {
        if self.direct.readers.is_empty() {
            return;
        }
        self.direct.clock.add(Look::now());
        let drained_ns = self.drained_ns;
        self.read_direct(None, drained_ns, None);
        let direct = &mut self.direct;
        direct.used.threads += direct.readers.iter_mut().map(Reader::free).sum::<u64>();
        direct.readers.retain_mut(|reader| {
            let empty = (0..SLOTS).all(|n| reader.waiting(n) == 0);
            if reader.over() && empty {
                direct.past = direct.past.plus(reader.totals());
                direct.calls.retain(|c| c.pid != reader.pid);
                return false;
            }
            true
        });
    }

    /// Reads the records that began before `until_ns`.
    fn read_direct(&mut self, pid: Option<u32>, until_ns: u64, ends: Option<(u64, u64)>) {
        // They are looked at while they write to all else.
        let mut readers = std::mem::take(&mut self.direct.readers);
        for reader in readers.iter_mut().filter(|r| pid.is_none_or(|p| p == r.pid)) {
            for n in 0..SLOTS {
                let waiting = reader.waiting(n);
                self.direct.used.records = self.direct.used.records.max(waiting);
                let mut read = false;
                for _ in 0..waiting {
                    let raw = reader.oldest(n);
                    if !self.direct_op(reader.pid, &raw, until_ns, ends) {
                        break;
                    }
                    reader.next(n);
                    read = true;
                }
                if read {
                    reader.give_back(n);
                }
            }
        }
        self.direct.readers = readers;
    }

    /// Takes one record; false: it is not its time yet.
    fn direct_op(&mut self, pid: u32, raw: &Raw, until_ns: u64, ends: Option<(u64, u64)>) -> bool {
        let ended = raw.start.wrapping_add(raw.took);
        if !self.direct.clock.covers(ended) {
            self.direct.clock.add(Look::now());
        }
        let clock = &self.direct.clock;
        let (Some(start_ns), Some(end_ns)) = (clock.ns(raw.start), clock.ns(ended)) else {
            self.direct.unknown += 1;
            return true;
        };
        if start_ns >= until_ns {
            return false;
        }
        let error_ns = clock.error_ns();
        let Some(start) = self.graphs.computes(pid, raw, start_ns.saturating_add(error_ns)) else {
            // The event of its call was written before the operator began: when a later event has come, it has come or was lost. And
            // what waited would keep back what belongs to the call that ends now.
            if ends.is_none() && self.drained_ns.saturating_sub(start_ns) < GRACE_NS {
                return false;
            }
            let seen = self.direct.calls.iter().find(|c| c.pid == pid);
            // It ran when the probes came; else its event was lost.
            let edge = seen.is_none_or(|c| start_ns < c.first_ns);
            *(if edge { &mut self.direct.edge } else { &mut self.direct.unknown }) += 1;
            return true;
        };
        let Some(start) = start else {
            self.direct.gated += 1;
            return true;
        };
        let end = ends.filter(|(s, _)| *s == start).map(|(_, end)| end);
        let call = Call { start_ns: start, end_ns: end };
        let (start_ns, end_ns) = self.direct.clamp(call, start_ns, end_ns.max(start_ns), error_ns);
        let op = Op {
            head: Head {
                tid: raw.tid,
                tgid: pid,
                arg: u32::from(raw.cpu_start) | u32::from(raw.cpu_end) << 16,
            },
            start_ns,
            end_ns,
            node: raw.node,
            last: raw.last,
            graph: call.start_ns,
        };
        self.op(&op, None);
        true
    }

    /// What direct probes add to the session's ledger.
    pub(super) fn direct_added(&self) -> Added {
        let totals = self.direct.readers.iter().map(Reader::totals).fold(self.direct.past, Totals::plus);
        let Direct { edge, unknown, gated, gated_ends, .. } = self.direct;
        Added { totals, edge, unknown, gated, gated_ends }
    }

    /// Says what direct probes did, once there were any.
    pub fn emit_direct_loss(&mut self, at_ns: u64, weight: Weight) {
        let totals = self.direct_added().totals;
        if totals == Totals::default() {
            return;
        }
        let loss = DirectLoss {
            at_ns,
            records: totals.records,
            ring_full: totals.full,
            no_slot: totals.no_slot,
            clamped: self.direct.clamped,
            clock_error_ns: self.direct.clock.error_ns(),
        };
        self.emit.emit(&Record::DirectLoss(loss), weight);
    }
}

impl Direct {
    /// Times within the call, where they are outside by no more than the clock's error.
    fn clamp(&mut self, call: Call, start_ns: u64, end_ns: u64, error_ns: u64) -> (u64, u64) {
        let within = |ns: u64| {
            let late = call.end_ns.filter(|end| ns > *end && ns - end <= error_ns);
            let early = (ns < call.start_ns && call.start_ns - ns <= error_ns).then_some(call.start_ns);
            late.or(early)
        };
        let (start, end) = (within(start_ns), within(end_ns));
        self.clamped += u64::from(start.is_some()) + u64::from(end.is_some());
        (start.unwrap_or(start_ns), end.unwrap_or(end_ns))
    }
}

impl Graphs {
    /// When the running call of the CPU began to which an operator belongs that began before `before_ns`: its thread's own, else the
    /// one whose nodes it computes, else the last. `Some(None)`: its operators are not captured.
    fn computes(&self, pid: u32, raw: &Raw, before_ns: u64) -> Option<Option<u64>> {
        let call = self.call_of(pid, raw, before_ns)?;
        Some((!call.skipped).then_some(call.start_ns))
    }

    fn call_of(&self, pid: u32, raw: &Raw, before_ns: u64) -> Option<&super::graph::Open> {
        let mut calls = self.running(pid, before_ns);
        let first = calls.next()?;
        let Some(second) = calls.next() else { return Some(first) };
        let all = || [first, second].into_iter().chain(self.running(pid, before_ns).skip(2));
        let own = all().filter(|c| c.tid == raw.tid).max_by_key(|c| c.start_ns);
        let knows =
            |c: &&super::graph::Open| c.topology.as_ref().is_some_and(|t| t.index(raw.node, 0).is_some());
        let its = own.or_else(|| all().filter(knows).max_by_key(|c| c.start_ns));
        its.or_else(|| all().max_by_key(|c| c.start_ns))
    }

    fn running(&self, pid: u32, before_ns: u64) -> impl Iterator<Item = &super::graph::Open> {
        let its = move |o: &&super::graph::Open| {
            o.pid == pid && o.layer == layer::BACKEND && o.backend == 0 && o.start_ns <= before_ns
        };
        self.open.iter().filter(its)
    }
}
