//! Operators from direct probes: records without a graph call, to be matched with the kernel's
//! graph events.
//!
//! The engine's threads pass a barrier before a graph call ends. So when the kernel's end event
//! arrives, all records of the call are in the rings, and they are read then. Records of running
//! calls are read at the end of each drain.

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

/// How long a record waits for the kernel's event of its graph call, ns: the thread that sends the
/// event may be preempted.
const GRACE_NS: u64 = 20_000_000;

/// Engines with direct probes.
#[derive(Debug, Default)]
pub(super) struct Direct {
    readers: Vec<Reader>,
    clock: Clock,
    /// Totals of engines whose probes were removed.
    past: Totals,
    /// Records of calls that were running when the probes were installed, and of unknown calls.
    edge: u64,
    unknown: u64,
    clamped: u64,
    /// Records, and ends without a start, in calls that are not captured.
    gated: u64,
    gated_ends: u64,
    /// The known calls of each process.
    calls: Vec<Seen>,
    used: Used,
}

/// Utilization of rings and slots.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used {
    /// Most records in one ring.
    pub records: u64,
    /// Ended threads whose slots were freed.
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
    /// Ends without a start before it began.
    no_start: u64,
}

/// Numbers that are added to the kernel's totals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Added {
    pub(super) totals: Totals,
    pub(super) edge: u64,
    pub(super) unknown: u64,
    pub(super) gated: u64,
    pub(super) gated_ends: u64,
}

/// A running call that an operator belongs to.
#[derive(Debug, Clone, Copy)]
struct Call {
    start_ns: u64,
    /// The end of a call that is about to end; `None` while it runs.
    end_ns: Option<u64>,
}

impl Lower {
    /// Starts to read an engine's records.
    pub fn add_direct(&mut self, reader: Reader) {
        if self.direct.readers.is_empty() {
            self.direct.clock.add(Look::now());
        }
        self.direct.readers.push(reader);
        self.direct.calls.reserve(1);
    }

    /// Utilization of rings and slots since the last call; `None` without direct probes.
    pub fn direct_used(&mut self) -> Option<Used> {
        let used = std::mem::take(&mut self.direct.used);
        (!self.direct.readers.is_empty()).then_some(used)
    }

    /// Notes the start of a CPU graph call. With `skipped` its operators are not captured.
    pub(super) fn direct_begun(&mut self, pid: u32, first_ns: u64, skipped: bool) {
        let direct = &mut self.direct;
        let Some(reader) = direct.readers.iter().find(|r| r.pid == pid) else { return };
        let no_start = reader.totals().no_start;
        match direct.calls.iter_mut().find(|c| c.pid == pid) {
            Some(seen) => {
                if seen.skipped {
                    // An operator was running when recording began, in a call that is not captured.
                    direct.gated_ends += no_start.saturating_sub(seen.no_start);
                }
                (seen.skipped, seen.no_start) = (skipped, no_start);
            }
            None => direct.calls.push(Seen { pid, first_ns, skipped, no_start }),
        }
    }

    /// Reads the records of a call of `pid` that ends at `end_ns`.
    pub(super) fn direct_ends(&mut self, pid: u32, start_ns: u64, end_ns: u64) {
        self.read_direct(Some(pid), end_ns, Some((start_ns, end_ns)));
    }

    /// Reads the records of running calls. All kernel events before `drained_ns` have been lowered.
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
        // Taken out, because `direct_op` borrows everything else.
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

    /// Processes one record; false if it must wait.
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
            // The event of the call was written before the operator began. Once a later event has
            // arrived, it has arrived too or was lost. A waiting record would also delay those of
            // the call that ends now.
            if ends.is_none() && self.drained_ns.saturating_sub(start_ns) < GRACE_NS {
                return false;
            }
            let seen = self.direct.calls.iter().find(|c| c.pid == pid);
            // The call was running when the probes were installed; otherwise its event was lost.
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

    /// Contribution of direct probes to the session's ledger.
    pub(super) fn direct_added(&self) -> Added {
        let totals = self.direct.readers.iter().map(Reader::totals).fold(self.direct.past, Totals::plus);
        let Direct { edge, unknown, gated, gated_ends, .. } = self.direct;
        Added { totals, edge, unknown, gated, gated_ends }
    }

    /// Sends the totals of direct probes, if there are any.
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
    /// Moves times into the call if they are outside by no more than the clock's error.
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
    /// Start of the running CPU call to which an operator belongs that began before `before_ns`.
    /// Prefers the call of its own thread, then one that contains its node, then the last.
    /// `Some(None)`: the call's operators are not captured.
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
