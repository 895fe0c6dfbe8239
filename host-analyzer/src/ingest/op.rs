//! Operator spans: unpacked as they come, put in order at the end.

use std::collections::HashMap;

use profinfer_wire::record::op::SpanBatch;
use profinfer_wire::span::Span;

use super::damage::Damages;
use crate::model::{DamageKind, GraphCallId, Model, NodeIdx, Shape, ShapeId, Spans, ThreadId, WAIT_UNKNOWN};

/// Batches in order of arrival, their spans one after the other.
#[derive(Debug, Default)]
pub(super) struct Batches {
    spans: Vec<Span>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    graph: u32,
    thread: ThreadId,
    base_ns: u64,
    first: usize,
    count: usize,
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
        self.rows.push(Row { graph: r.graph, thread, base_ns: r.base_ns, first, count, offset });
        count as u64
    }

    /// Fills the table. Spans of a call that never came, or whose structure did not, are left out and counted.
    pub(super) fn finish(
        self,
        calls: &HashMap<u32, GraphCallId>,
        model: &mut Model,
        lossy: bool,
        damages: &mut Damages,
    ) {
        let mut rows: Vec<(GraphCallId, ShapeId, Row)> = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let call = calls.get(&row.graph).copied();
            match call.and_then(|c| Some((c, model.graph_calls.shape[c.0 as usize]?))) {
                Some((call, shape)) => rows.push((call, shape, row)),
                None => damages.add(DamageKind::Unresolved, row.count as u64, 0, row.offset),
            }
        }
        rows.sort_by_key(|(call, _, row)| (*call, row.thread, row.base_ns));
        let idle: Vec<Vec<bool>> = model.shapes.rows.iter().map(|s| never_run(s, &model.texts)).collect();
        let total = rows.iter().map(|(.., r)| r.count).sum();
        let mut out = Table::with_capacity(&mut model.spans, total);
        for (call, shape, row) in rows {
            let n_nodes = model.shapes.rows[shape.0 as usize].n_nodes;
            for span in &self.spans[row.first..row.first + row.count] {
                if span.last_node < n_nodes {
                    out.push(call, row.thread, span);
                } else {
                    damages.add(DamageKind::Unresolved, 1, 0, row.offset);
                }
            }
        }
        let call_end = |call: GraphCallId| {
            let i = call.0 as usize;
            model.graph_calls.start_ns[i].saturating_add(model.graph_calls.duration_ns[i])
        };
        let adjacent = |call: GraphCallId, from: NodeIdx, to: Option<NodeIdx>| {
            let shape = model.graph_calls.shape[call.0 as usize].map_or(0, |s| s.0 as usize);
            let n_nodes = model.shapes.rows[shape].n_nodes;
            (from.0 + 1..to.map_or(n_nodes, |n| n.0)).all(|i| idle[shape][i as usize])
        };
        waits(&mut model.spans, call_end, adjacent, lossy);
    }
}

/// The span table while it is filled.
struct Table<'a>(&'a mut Spans);

impl<'a> Table<'a> {
    fn with_capacity(spans: &'a mut Spans, n: usize) -> Self {
        spans.graph_call.reserve_exact(n);
        spans.thread.reserve_exact(n);
        spans.node.reserve_exact(n);
        spans.last_node.reserve_exact(n);
        spans.start_ns.reserve_exact(n);
        spans.work_ns.reserve_exact(n);
        spans.wait_ns.reserve_exact(n);
        spans.cpu.reserve_exact(n);
        spans.migrated.reserve_exact(n);
        Self(spans)
    }

    fn push(&mut self, call: GraphCallId, thread: ThreadId, span: &Span) {
        let s = &mut *self.0;
        s.graph_call.push(call);
        s.thread.push(thread);
        s.node.push(NodeIdx(span.node));
        s.last_node.push(NodeIdx(span.last_node));
        s.start_ns.push(span.start_ns);
        s.work_ns.push(span.work_ns);
        s.wait_ns.push(WAIT_UNKNOWN);
        s.cpu.push(span.cpu);
        s.migrated.push(span.migrated);
    }
}

/// The wait behind a span lasts until the thread's next span of the same call, or until the call's end. Where
/// something was lost, only between nodes of which nothing that runs lies in between.
fn waits(
    spans: &mut Spans,
    call_end: impl Fn(GraphCallId) -> u64,
    adjacent: impl Fn(GraphCallId, NodeIdx, Option<NodeIdx>) -> bool,
    lossy: bool,
) {
    for i in 0..spans.len() {
        let (call, thread) = (spans.graph_call[i], spans.thread[i]);
        let next = i + 1;
        let same = next < spans.len() && spans.graph_call[next] == call && spans.thread[next] == thread;
        let until = if same { spans.start_ns[next] } else { call_end(call) };
        let to = same.then(|| spans.node[next]);
        if lossy && (to.is_some_and(|n| n <= spans.last_node[i]) || !adjacent(call, spans.last_node[i], to)) {
            continue;
        }
        let end = spans.start_ns[i].saturating_add(spans.work_ns[i]);
        if let Some(wait) = until.checked_sub(end) {
            spans.wait_ns[i] = u32::try_from(wait).unwrap_or(WAIT_UNKNOWN - 1).min(WAIT_UNKNOWN - 1);
        }
    }
}

/// Nodes that only describe memory: no thread runs them.
fn never_run(shape: &Shape, texts: &crate::model::Texts) -> Vec<bool> {
    let ops = ["NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"].map(|op| texts.find(op));
    shape.nodes.iter().map(|n| ops.contains(&Some(n.op))).collect()
}
