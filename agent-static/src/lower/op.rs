//! Operator level: one span per operator and thread, packed into a batch per thread and graph call.

use profinfer_wire::counts::Counted;
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::{CountedBatch, SLOTS, why};
use profinfer_wire::record::op::SpanBatch;
use profinfer_wire::span::Span;

use super::Lower;
use super::batch::Batch;
use super::graph::Open;
use crate::link::output::Weight;
use crate::ring;

/// Batches kept for use again, about a thread each.
const MAX_POOL: usize = 64;

impl Lower {
    /// Takes an operator, with what was counted in it.
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
            return;
        };
        let node = topology.index(e.node, hint);
        // Most kernels compute one node: then nothing is looked up again.
        let last = if e.last == e.node { node } else { topology.index(e.last, hint + 1) };
        let (Some(node), Some(last)) = (node, last) else {
            self.spans.no_graph += 1;
            return;
        };
        if last < node || e.end_ns < e.start_ns {
            self.spans.no_graph += 1;
            return;
        }
        let (cpu_start, cpu_end) = (e.head.arg & 0xffff, e.head.arg >> 16);
        let span = Span {
            node,
            last_node: last,
            start_ns: e.start_ns,
            work_ns: e.end_ns - e.start_ns,
            cpu: u16::try_from(cpu_end).unwrap_or(u16::MAX),
            migrated: cpu_start != cpu_end,
        };
        if let Some(i) = at {
            if open.batches[i].push(&span, counted) {
                return;
            }
            // Full: it goes out, and its memory is the next batch's.
            let (id, wire_id) = (open.id, topology.wire_id);
            let full = open.batches.swap_remove(i);
            let full = self.send_batch(full, id, wire_id);
            self.begin_batch(e, full, &span, counted);
        } else {
            self.thread(e.head.tgid, tid);
            let batch = self.graphs.pool.pop().unwrap_or_else(Batch::new);
            self.begin_batch(e, batch, &span, counted);
        }
    }

    fn begin_batch(&mut self, e: &ring::Op, batch: Batch, span: &Span, counted: Option<&Counted>) {
        let mut batch = batch.begin(e.head.tid, span.start_ns, span.cpu);
        let packed = batch.push(span, counted);
        match self.graphs.open_for(e) {
            Some(open) if packed => open.batches.push(batch),
            _ => self.spans.no_graph += 1,
        }
    }

    fn send_batch(&mut self, batch: Batch, graph: u32, topology: u32) -> Batch {
        let Batch { tid, base_ns, cpu, count, .. } = batch;
        let bytes = &batch.bytes[..batch.len];
        // All spans of a session have counters, or none has.
        let record = match &batch.counts {
            Some(counts) if batch.counts_len > 0 => {
                let counts = &counts[..batch.counts_len];
                Record::CountedBatch(CountedBatch {
                    graph,
                    topology,
                    tid,
                    base_ns,
                    cpu,
                    count,
                    bytes,
                    counts,
                })
            }
            _ => Record::SpanBatch(SpanBatch { graph, topology, tid, base_ns, cpu, count, bytes }),
        };
        if self.emit.emit(&record, Weight::Droppable) {
            self.spans.sent += u64::from(batch.count);
        } else {
            self.spans.queue_full += u64::from(batch.count);
        }
        batch
    }

    /// Sends the spans and the experts of a call that has ended, or will never be seen to end.
    pub(super) fn send_batches(&mut self, mut open: Open) {
        let wire_id = open.topology.as_ref().map_or(0, |s| s.wire_id);
        if let Some(mut selections) = open.selections.take() {
            selections.send(&mut self.emit, &mut self.experts, open.id, wire_id);
            self.spare_selections.push(selections);
        }
        for batch in open.batches.drain(..) {
            let batch = self.send_batch(batch, open.id, wire_id);
            if self.graphs.pool.len() < MAX_POOL {
                self.graphs.pool.push(batch);
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

/// The counts that are valid: none when a stretch of the thread's time was not seen whole, no hardware counter
/// when those did not count all of it, and never what could not be read.
fn values(c: &ring::Counted, (slots, hardware): (usize, usize)) -> Counted {
    let mut values = [None; SLOTS];
    let seen = u64::from(c.why) & (why::UNREAD | why::TORN) == 0;
    for (k, (value, count)) in values.iter_mut().zip(c.counts).take(slots).enumerate() {
        let valid = c.missing >> k & 1 == 0 && (c.why == 0 || seen && k >= hardware);
        *value = valid.then_some(count);
    }
    Counted { values, switches: c.switches, why: c.why.into() }
}
