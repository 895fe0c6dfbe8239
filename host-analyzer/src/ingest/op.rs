//! Operator spans: unpacked as they come, sorted at the end.

use std::collections::HashMap;

use profinfer_wire::counts::Counted;
use profinfer_wire::predicted::{MAX_PERIOD, UNKNOWN, UNKNOWN_COUNTS, UsualCounts, Usually};
use profinfer_wire::record::counter::CountedBatch;
use profinfer_wire::record::op::{PredictedBatch, SpanBatch};
use profinfer_wire::span::{CPU_UNKNOWN, Span};

use super::counter::Columns;
use super::damage::Damages;
use super::wait;
use crate::model::{DamageKind, GraphCallId, Model, NodeIdx, Spans, ThreadId, TopologyId, WAIT_UNKNOWN};

/// Batches in order of arrival, their spans one after the other.
#[derive(Debug, Default)]
pub(super) struct Batches {
    spans: Vec<Span>,
    counted: Vec<Counted>,
    rows: Vec<Row>,
    memory: Memory,
}

/// What a predicted batch is unpacked with. Each batch begins anew, so one is enough.
#[derive(Debug)]
struct Memory {
    usually: Vec<Usually>,
    counts: Vec<UsualCounts>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { usually: vec![UNKNOWN; MAX_PERIOD.into()], counts: vec![UNKNOWN_COUNTS; MAX_PERIOD.into()] }
    }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    graph: u32,
    thread: ThreadId,
    base_ns: u64,
    first: usize,
    count: usize,
    /// Index of its first count, if it came with counts.
    counted: Option<usize>,
    offset: u64,
}

impl Batches {
    /// Unpacks a batch; returns the number of spans in it.
    pub(super) fn add(
        &mut self,
        r: &SpanBatch<'_>,
        thread: ThreadId,
        offset: u64,
        damages: &mut Damages,
    ) -> u64 {
        let first = self.spans.len();
        let mut spans = r.spans();
        self.spans.extend(&mut spans);
        if spans.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        let count = self.spans.len() - first;
        let row = Row { graph: r.graph, thread, base_ns: r.base_ns, first, count, counted: None, offset };
        self.rows.push(row);
        count as u64
    }

    /// The same with counters. A span with malformed counts stays, without them.
    pub(super) fn add_counted(
        &mut self,
        r: &CountedBatch<'_>,
        thread: ThreadId,
        offset: u64,
        damages: &mut Damages,
    ) -> u64 {
        let CountedBatch { graph, topology, tid, base_ns, cpu, count, bytes, .. } = *r;
        let plain = SpanBatch { graph, topology, tid, base_ns, cpu, count, bytes };
        let received = self.add(&plain, thread, offset, damages);
        let first = self.counted.len();
        let mut counts = r.counts();
        self.counted.extend(&mut counts);
        if counts.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        if let Some(row) = self.rows.last_mut() {
            row.counted = Some(first);
            // Spans before the malformed bytes have their counts, the others have none.
            self.counted.resize(first + row.count, Counted::default());
        }
        received
    }

    /// The same of a predicted batch, with counters or without.
    pub(super) fn add_predicted(
        &mut self,
        r: &PredictedBatch<'_>,
        thread: ThreadId,
        offset: u64,
        damages: &mut Damages,
    ) -> u64 {
        let (first, first_counted) = (self.spans.len(), self.counted.len());
        let mut spans = r.spans(&mut self.memory.usually, &mut self.memory.counts);
        if r.counted {
            while let Some(span) = spans.next() {
                self.spans.push(span);
                self.counted.push(spans.counted);
            }
        } else {
            self.spans.extend(&mut spans);
        }
        if spans.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        let count = self.spans.len() - first;
        let counted = r.counted.then_some(first_counted);
        self.rows.push(Row { graph: r.graph, thread, base_ns: r.base_ns, first, count, counted, offset });
        count as u64
    }

    /// Fills the table. Spans of a call that never came, or whose topology did not, are left out and counted.
    pub(super) fn finish(
        self,
        calls: &HashMap<u32, GraphCallId>,
        model: &mut Model,
        lossy: bool,
        damages: &mut Damages,
    ) {
        let mut rows: Vec<(GraphCallId, TopologyId, Row)> = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let call = calls.get(&row.graph).copied();
            match call.and_then(|c| Some((c, model.graph_calls.topology[c.0 as usize]?))) {
                Some((call, topology)) => rows.push((call, topology, row)),
                None => damages.add(DamageKind::Unresolved, row.count as u64, 0, row.offset),
            }
        }
        rows.sort_by_key(|(call, _, row)| (*call, row.thread, row.base_ns));
        let total = rows.iter().map(|(.., r)| r.count).sum();
        let columns = Columns::of(&model.session, &mut model.spans.counts);
        let mut out = Table::with_capacity(&mut model.spans, columns, total);
        let mut left_out = false;
        for (call, topology, row) in rows {
            let n_nodes = model.topologies.rows[topology.0 as usize].n_nodes;
            for (i, span) in self.spans[row.first..row.first + row.count].iter().enumerate() {
                if span.last_node < n_nodes {
                    let counted = row.counted.and_then(|first| self.counted.get(first + i));
                    out.push(call, row.thread, span, counted);
                } else {
                    damages.add(DamageKind::Unresolved, 1, 0, row.offset);
                    left_out = true;
                }
            }
        }
        out.order_group();
        wait::fill(model, lossy || left_out);
    }
}

/// The span table while it is filled, in groups of one thread in one call.
struct Table<'a> {
    spans: &'a mut Spans,
    columns: Columns,
    /// First row of the group that is being filled.
    first: usize,
    /// Its spans came in order of start so far.
    ordered: bool,
}

impl<'a> Table<'a> {
    fn with_capacity(spans: &'a mut Spans, columns: Columns, n: usize) -> Self {
        spans.graph_call.reserve_exact(n);
        spans.thread.reserve_exact(n);
        spans.node.reserve_exact(n);
        spans.last_node.reserve_exact(n);
        spans.start_ns.reserve_exact(n);
        spans.work_ns.reserve_exact(n);
        spans.wait_ns.reserve_exact(n);
        spans.cpu.reserve_exact(n);
        spans.migrated.reserve_exact(n);
        Self { spans, columns, first: 0, ordered: true }
    }

    fn push(&mut self, call: GraphCallId, thread: ThreadId, span: &Span, counted: Option<&Counted>) {
        let last = self.spans.graph_call.last().copied().zip(self.spans.thread.last().copied());
        if last != Some((call, thread)) {
            self.order_group();
        } else if self.spans.start_ns.last().is_some_and(|last| span.start_ns < *last) {
            self.ordered = false;
        }
        let s = &mut *self.spans;
        s.graph_call.push(call);
        s.thread.push(thread);
        s.node.push(NodeIdx(span.node));
        s.last_node.push(NodeIdx(span.last_node));
        s.start_ns.push(span.start_ns);
        s.work_ns.push(span.work_ns);
        s.wait_ns.push(WAIT_UNKNOWN);
        let cpu = (span.cpu != CPU_UNKNOWN).then_some(span.cpu);
        s.cpu.push(cpu);
        s.migrated.push(span.migrated && cpu.is_some());
        self.columns.push(&mut s.counts, cpu, counted);
    }

    /// Ends a group. Batches of an agent follow each other. If batches of a foreign stream overlap, the group is sorted
    /// here.
    fn order_group(&mut self) {
        let first = std::mem::replace(&mut self.first, self.spans.len());
        if std::mem::replace(&mut self.ordered, true) {
            return;
        }
        let s = &mut *self.spans;
        let mut order: Vec<usize> = (first..s.len()).collect();
        order.sort_by_key(|i| s.start_ns[*i]);
        permute(&mut s.node, &order);
        permute(&mut s.last_node, &order);
        permute(&mut s.start_ns, &order);
        permute(&mut s.work_ns, &order);
        permute(&mut s.cpu, &order);
        permute(&mut s.migrated, &order);
        if !s.counts.is_empty() {
            permute(&mut s.counts.switches, &order);
            permute(&mut s.counts.why, &order);
            s.counts.values.iter_mut().for_each(|column| permute(column, &order));
        }
    }
}

/// Puts the last rows of a column into the order of `order`, which names each row once.
fn permute<T: Copy>(column: &mut [T], order: &[usize]) {
    let sorted: Vec<T> = order.iter().map(|i| column[*i]).collect();
    let first = column.len() - sorted.len();
    column[first..].copy_from_slice(&sorted);
}
