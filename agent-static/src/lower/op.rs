//! Operator level: one span per operator and thread, packed into a batch per thread and graph call.

use profinfer_wire::counts::Counted;
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::{SLOTS, why};
use profinfer_wire::record::op::PredictedBatch;
use profinfer_wire::span::{CPU_UNKNOWN, Span};

use super::Lower;
use super::batch::Batch;
use super::graph::Open;
use super::starts::Running;
use crate::bpf::ring::{self, WalkFailure};
use crate::link::output::Weight;

/// Most batches kept for reuse; about one per thread.
const MAX_POOL: usize = 64;

impl Lower {
    /// Processes an operator, with its counter values.
    pub(crate) fn op(&mut self, e: &ring::Op, counted: Option<&ring::Counted>) {
        let tid = e.head.tid;
        let counted = counted.map(|c| values(c, self.counter_slots));
        let counted = counted.as_ref();
        let graphs = &mut self.graphs;
        let Some(open) = graphs.open_for(e) else {
            self.spans.no_graph += 1;
            return;
        };
        let at = open.batches.iter().position(|b| b.tid == tid);
        let hint = at.map_or(0, |i| open.batches[i].last_index + 1);
        let Some(topology) = open.topology.as_ref() else {
            self.spans.no_graph += 1;
            match open.unknown {
                Some(WalkFailure::TooLarge) => self.spans.too_large += 1,
                Some(WalkFailure::Unreadable) => self.spans.unreadable += 1,
                Some(WalkFailure::RingFull | WalkFailure::Unfinished) | None => {}
            }
            return;
        };
        let node = topology.index(e.node, hint);
        // Most kernels compute one node, which needs no second lookup.
        let last = if e.last == e.node { node } else { topology.index(e.last, hint + 1) };
        let possible = (e.end_ns >= e.start_ns || self.starts_only).then_some(());
        let (Some(node), Some(last), Some(())) = (node, last.filter(|last| node <= Some(*last)), possible)
        else {
            self.spans.no_graph += 1;
            self.spans.damaged += 1;
            return;
        };
        let (began, cpu) = e.cpus();
        let passes = topology.passes(node, last);
        let span = Span {
            node,
            last_node: last,
            start_ns: e.start_ns,
            work_ns: e.end_ns.saturating_sub(e.start_ns),
            cpu,
            migrated: began != cpu && began != CPU_UNKNOWN && cpu != CPU_UNKNOWN,
        };
        let (span, passes) = if self.starts_only {
            let running = Running { span, passes };
            let Some(i) = at else {
                let period = topology.period;
                self.begin_running(e, period, running);
                return;
            };
            // The previous span ends here.
            let Some(before) = open.batches[i].running.replace(running) else { return };
            (before.until(span.start_ns), before.passes)
        } else {
            (span, passes)
        };
        if !passes {
            self.spans.filtered += 1;
            return;
        }
        if let Some(i) = at {
            if open.batches[i].push(&span, counted) {
                return;
            }
            // Full: send the batch and reuse its memory for the next one.
            let (id, wire_id, period, keep) = (open.id, topology.wire_id, topology.period, open.keep);
            let mut full = open.batches.swap_remove(i);
            self.send_batch(&mut full, id, wire_id, keep);
            self.begin_batch(e, full, period, &span, counted);
        } else {
            let period = topology.period;
            self.thread(e.head.tgid, tid);
            let batch = self.graphs.pool.pop().unwrap_or_else(Batch::new);
            self.begin_batch(e, batch, period, &span, counted);
        }
    }

    /// The first start of a thread in a call.
    fn begin_running(&mut self, e: &ring::Op, period: u16, running: Running) {
        self.thread(e.head.tgid, e.head.tid);
        let batch = self.graphs.pool.pop().unwrap_or_else(Batch::new);
        let begun = (running.span.start_ns, running.span.cpu);
        let mut batch = batch.begin(e.head.tid, begun, (period, false), &mut self.graphs.learning);
        batch.running = Some(running);
        if let Some(open) = self.graphs.open_for(e) {
            open.batches.push(batch);
        }
    }

    fn begin_batch(
        &mut self,
        e: &ring::Op,
        batch: Batch,
        period: u16,
        span: &Span,
        counted: Option<&Counted>,
    ) {
        let begun = (span.start_ns, span.cpu);
        let mut batch =
            batch.begin(e.head.tid, begun, (period, counted.is_some()), &mut self.graphs.learning);
        let packed = batch.push(span, counted);
        match self.graphs.open_for(e) {
            Some(open) if packed => open.batches.push(batch),
            _ => {
                self.graphs.learning.give_back(&batch);
                self.spans.no_graph += 1 + u64::from(batch.running.is_some());
            }
        }
    }

    /// Sends the packed spans. If a filter excludes the call, only counts them as filtered.
    pub(super) fn send_batch(&mut self, batch: &mut Batch, graph: u32, topology: u32, keep: bool) {
        let Batch { tid, base_ns, cpu, count, .. } = *batch;
        if !keep {
            self.spans.filtered += u64::from(count);
            return;
        }
        if count == 0 {
            return;
        }
        // Either all spans of a session have counters or none has.
        let (period, counted, bytes) = batch.finish();
        let record = PredictedBatch { graph, topology, tid, base_ns, cpu, count, period, counted, bytes };
        if self.emit.emit(&Record::PredictedBatch(record), Weight::Droppable) {
            self.spans.sent += u64::from(count);
        } else {
            self.spans.queue_full += u64::from(count);
        }
    }

    /// Ends the last span of each thread with its call.
    pub(super) fn end_running(&mut self, open: &mut Open, end_ns: u64) {
        let wire_id = open.topology.as_ref().map_or(0, |t| t.wire_id);
        for batch in &mut open.batches {
            let Some(running) = batch.running.take() else { continue };
            if !running.passes {
                self.spans.filtered += 1;
                continue;
            }
            let span = running.until(end_ns);
            if batch.push(&span, None) {
                continue;
            }
            self.send_batch(batch, open.id, wire_id, open.keep);
            batch.begin_again(span.start_ns, span.cpu);
            if !batch.push(&span, None) {
                self.spans.no_graph += 1;
            }
        }
    }

    /// Sends the spans and the experts of a call that has ended, or whose end was lost.
    pub(super) fn send_batches(&mut self, mut open: Open) {
        let wire_id = open.topology.as_ref().map_or(0, |s| s.wire_id);
        if let Some(mut selections) = open.selections.take() {
            selections.send(&mut self.emit, &mut self.experts, open.id, wire_id);
            self.spare_selections.push(selections);
        }
        for mut batch in open.batches.drain(..) {
            self.send_batch(&mut batch, open.id, wire_id, open.keep);
            // The end of its call was lost.
            self.spans.edge += u64::from(batch.running.take().is_some());
            if self.graphs.pool.len() < MAX_POOL {
                self.graphs.pool.push(batch);
            } else {
                self.graphs.learning.give_back(&batch);
            }
        }
        if self.graphs.lists.len() < MAX_POOL {
            self.graphs.lists.push(open.batches);
        }
    }
}

impl super::graph::Graphs {
    fn open_for(&mut self, e: &ring::Op) -> Option<&mut Open> {
        if e.graph == 0 {
            return None;
        }
        self.find(e.head.tgid, e.graph)
    }
}

/// The valid counts. None if a part of the thread's time was missed, no hardware counters if they
/// did not count all of it, and never a count that could not be read.
fn values(c: &ring::Counted, (slots, hardware): (usize, usize)) -> Counted {
    let mut values = [None; SLOTS];
    let seen = u64::from(c.why) & (why::UNREAD | why::TORN) == 0;
    for (k, (value, count)) in values.iter_mut().zip(c.counts).take(slots).enumerate() {
        let valid = c.missing >> k & 1 == 0 && (c.why == 0 || seen && k >= hardware);
        *value = valid.then_some(count);
    }
    Counted { values, switches: c.switches, why: c.why.into() }
}
