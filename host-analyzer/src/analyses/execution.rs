//! Executions: one operator in one graph call, over all threads that took part.
//!
//! Stage: analysis, shared by the others. From: the spans, in one pass. To: [`Executions`], columns in the
//! order of graph calls. Promises: every span of a call that was traced whole is in exactly one execution, so that sums over
//! executions are sums over those spans; spans of other calls are in none.

use super::tracing::Tracing;
use crate::model::{Ends, GraphCallId, Model, NodeIdx, Spans, WAIT_UNKNOWN};

/// Columns, one row an execution, by graph call; within a call in the order in which spans name the nodes.
#[derive(Debug, Clone, Default)]
pub struct Executions {
    /// Graph call.
    pub graph_call: Vec<GraphCallId>,
    /// Node of the call's topology.
    pub node: Vec<NodeIdx>,
    /// Last node that the same kernel computed too; equal to `node` when not fused.
    pub last_node: Vec<NodeIdx>,
    /// First start of work over the threads, ns.
    pub start_ns: Vec<u64>,
    /// First start to last end of work over the threads, ns.
    pub wall_ns: Vec<u64>,
    /// Work, summed over the threads, ns.
    pub work_ns: Vec<u64>,
    /// Wait at the barrier, summed over the threads where it was seen, ns.
    pub wait_ns: Vec<u64>,
    /// Number of spans.
    pub spans: Vec<u32>,
}

/// What is known of one node while the spans of its call are read.
#[derive(Clone, Copy)]
struct Open {
    /// Call that the row belongs to; rows of other calls are stale.
    call: GraphCallId,
    row: usize,
}

const NO_CALL: Open = Open { call: GraphCallId(u32::MAX), row: 0 };

impl Executions {
    /// The executions of a session.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let widest = model.topologies.rows.iter().map(|s| s.nodes.len()).max().unwrap_or(0);
        let mut open = vec![NO_CALL; widest];
        let mut all = Self::default();
        let spans = &model.spans;
        let tracing = Tracing::of(model);
        for i in 0..spans.len() {
            let (call, node) = (spans.graph_call[i], spans.node[i]);
            if !tracing.whole(call.0 as usize) {
                continue;
            }
            let slot = &mut open[node.0 as usize];
            if slot.call == call {
                all.add(slot.row, spans, i);
            } else {
                *slot = Open { call, row: all.len() };
                all.push(spans, i);
            }
        }
        all
    }

    fn push(&mut self, spans: &Spans, i: usize) {
        self.graph_call.push(spans.graph_call[i]);
        self.node.push(spans.node[i]);
        self.last_node.push(spans.last_node[i]);
        self.start_ns.push(spans.start_ns[i]);
        self.wall_ns.push(spans.work_ns[i]);
        self.work_ns.push(spans.work_ns[i]);
        self.wait_ns.push(known(spans.wait_ns[i]));
        self.spans.push(1);
    }

    fn add(&mut self, row: usize, spans: &Spans, i: usize) {
        let start = self.start_ns[row].min(spans.start_ns[i]);
        let end = (self.start_ns[row].saturating_add(self.wall_ns[row]))
            .max(spans.start_ns[i].saturating_add(spans.work_ns[i]));
        self.start_ns[row] = start;
        self.wall_ns[row] = end - start;
        self.work_ns[row] = self.work_ns[row].saturating_add(spans.work_ns[i]);
        self.wait_ns[row] = self.wait_ns[row].saturating_add(known(spans.wait_ns[i]));
        self.last_node[row] = self.last_node[row].max(spans.last_node[i]);
        self.spans[row] += 1;
    }

    /// Number of executions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.node.len()
    }

    /// No span was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node.is_empty()
    }

    /// The rows of each graph call that has any, by call.
    pub fn by_call(&self) -> impl Iterator<Item = (GraphCallId, std::ops::Range<usize>)> + '_ {
        let mut end = 0;
        self.graph_call.chunk_by(|a, b| a == b).map(move |rows| {
            let start = end;
            end += rows.len();
            (rows[0], start..end)
        })
    }
}

/// A sum of waits; `None` of a recording without the ends of operators, in which no wait is told from work.
#[must_use]
pub(super) fn waits(model: &Model, wait_ns: u64) -> Option<u64> {
    (model.capture.ends == Ends::Both).then_some(wait_ns)
}

/// A wait whose end was not seen counts for nothing.
pub(super) fn known(wait_ns: u32) -> u64 {
    if wait_ns == WAIT_UNKNOWN { 0 } else { u64::from(wait_ns) }
}
