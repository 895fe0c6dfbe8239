//! Operator spans: unpacked on arrival, sorted at the end.

use std::collections::HashMap;

use profinfer_wire::counts::Counted;
use profinfer_wire::predicted::{MAX_PERIOD, UNKNOWN, UNKNOWN_COUNTS, UsualCounts, Usually};
use profinfer_wire::record::counter::CountedBatch;
use profinfer_wire::record::op::{PredictedBatch, SpanBatch};
use profinfer_wire::span::{CPU_UNKNOWN, Span};

use super::counter::Columns;
use super::damage::Damages;
use super::packed::{PackedSpans, Place};
use super::wait;
use crate::model::{DamageKind, GraphCallId, Model, NodeIdx, Spans, ThreadId, TopologyId, WAIT_UNKNOWN};

/// Batches in order of arrival, with their spans in one list.
#[derive(Debug, Default)]
pub(super) struct Batches {
    spans: PackedSpans,
    counted: Vec<Counted>,
    rows: Vec<Row>,
    memory: Memory,
}

/// Memory for unpacking a predicted batch. Each batch clears it, so one is enough.
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
    spans: Place,
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
        let (mut spans, mut place, mut end) = (r.spans(), self.spans.begin(), r.base_ns);
        spans.by_ref().for_each(|span| self.spans.push(&mut place, &span, &mut end));
        if spans.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        let row = Row { graph: r.graph, thread, base_ns: r.base_ns, spans: place, counted: None, offset };
        self.rows.push(row);
        place.count as u64
    }

    /// As [`Self::add`], with counters. A span with malformed counts is kept without them.
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
            self.counted.resize(first + row.spans.count, Counted::default());
        }
        received
    }

    /// As [`Self::add`], for a predicted batch, with or without counters.
    pub(super) fn add_predicted(
        &mut self,
        r: &PredictedBatch<'_>,
        thread: ThreadId,
        offset: u64,
        damages: &mut Damages,
    ) -> u64 {
        let (mut place, first_counted) = (self.spans.begin(), self.counted.len());
        let mut spans = r.spans(&mut self.memory.usually, &mut self.memory.counts);
        let mut end = r.base_ns;
        while let Some(span) = spans.next() {
            self.spans.push(&mut place, &span, &mut end);
            if r.counted {
                self.counted.push(spans.counted);
            }
        }
        if spans.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
        let counted = r.counted.then_some(first_counted);
        self.rows.push(Row { graph: r.graph, thread, base_ns: r.base_ns, spans: place, counted, offset });
        place.count as u64
    }

    /// Fills the table. Spans whose call or its topology never came are left out and counted.
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
                None => damages.add(DamageKind::Unresolved, row.spans.count as u64, 0, row.offset),
            }
        }
        rows.sort_by_key(|(call, _, row)| (*call, row.thread, row.base_ns));
        let total = rows.iter().map(|(.., r)| r.spans.count).sum();
        let columns = Columns::compute(&model.session, &mut model.spans.counts);
        let mut out = Table::with_capacity(&mut model.spans, columns, total);
        let mut left_out = false;
        let (mut spans, mut counted) = (Vec::new(), Vec::new());
        for (call, topology, row) in rows {
            spans.clear();
            spans.extend(self.spans.batch(row.spans, row.base_ns));
            counted.clear();
            if out.has_counts() {
                counted.extend((0..row.spans.count).map(|i| self.counted.get(row.counted? + i)));
            }
            let n_nodes = model.topologies.rows[topology.0 as usize].n_nodes;
            if spans.iter().any(|span| span.last_node >= n_nodes) {
                let known: Vec<bool> = spans.iter().map(|span| span.last_node < n_nodes).collect();
                let unknown = known.iter().filter(|known| !**known).count();
                damages.add(DamageKind::Unresolved, unknown as u64, 0, row.offset);
                left_out = true;
                keep(&mut spans, &known);
                keep(&mut counted, &known);
            }
            out.append(call, row.thread, &spans, &counted);
        }
        out.order_group();
        wait::fill(model, lossy || left_out);
    }
}

/// The span table while it is filled, in groups of one thread in one call.
struct Table<'a> {
    spans: &'a mut Spans,
    columns: Columns,
    /// First row of the current group.
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

    /// There are counters.
    fn has_counts(&self) -> bool {
        !self.spans.counts.is_empty()
    }

    /// Appends the spans of one batch, with their counter values if there are counters. It fills
    /// one column after another: then the capacity is checked once per column and not once per
    /// value.
    fn append(&mut self, call: GraphCallId, thread: ThreadId, spans: &[Span], counted: &[Option<&Counted>]) {
        let Some(first) = spans.first() else { return };
        let last = self.spans.graph_call.last().copied().zip(self.spans.thread.last().copied());
        if last != Some((call, thread)) {
            self.order_group();
        } else if self.spans.start_ns.last().is_some_and(|last| first.start_ns < *last) {
            self.ordered = false;
        }
        self.ordered &= spans.is_sorted_by_key(|span| span.start_ns);
        let s = &mut *self.spans;
        let len = s.len() + spans.len();
        s.graph_call.resize(len, call);
        s.thread.resize(len, thread);
        s.node.extend(spans.iter().map(|span| NodeIdx(span.node)));
        s.last_node.extend(spans.iter().map(|span| NodeIdx(span.last_node)));
        s.start_ns.extend(spans.iter().map(|span| span.start_ns));
        s.work_ns.extend(spans.iter().map(|span| span.work_ns));
        s.wait_ns.resize(len, WAIT_UNKNOWN);
        s.cpu.extend(spans.iter().map(cpu));
        s.migrated.extend(spans.iter().map(|span| span.migrated && cpu(span).is_some()));
        for (span, counted) in spans.iter().zip(counted) {
            self.columns.push(&mut s.counts, cpu(span), *counted);
        }
    }

    /// Ends a group. An agent sends the batches of a group in order. If batches of a foreign stream
    /// overlap, the group is sorted here.
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

/// Reorders the last rows of a column by `order`, which names each row once.
fn permute<T: Copy>(column: &mut [T], order: &[usize]) {
    let sorted: Vec<T> = order.iter().map(|i| column[*i]).collect();
    let first = column.len() - sorted.len();
    column[first..].copy_from_slice(&sorted);
}

fn cpu(span: &Span) -> Option<u16> {
    (span.cpu != CPU_UNKNOWN).then_some(span.cpu)
}

/// Keeps only known calls.
fn keep<T>(of_batch: &mut Vec<T>, known: &[bool]) {
    let mut known = known.iter();
    of_batch.retain(|_| known.next().copied().unwrap_or(false));
}
