//! Executions: one operator in one graph call, over all threads that took part.
//!
//! Stage: analysis, shared by the others. From: the spans, in one pass. To: [`Executions`], columns in the
//! order of graph calls. Promises: every span of a call that was traced whole is in exactly one execution, so that sums over
//! executions are sums over those spans; spans of other calls are in none.

use std::ops::Range;

use super::tracing::Tracing;
use crate::model::{Ends, GraphCallId, Model, NodeIdx, Spans, WAIT_UNKNOWN};

/// Columns, one row an execution, by graph call; within a call in the order in which spans name the nodes. What is needed of the
/// executions of one call or node only, as their starts and their work, is read from the spans there.
#[derive(Debug, Clone, Default)]
pub struct Executions {
    /// Node of the call's topology.
    pub node: Vec<NodeIdx>,
    /// Last node that the same kernel computed too; equal to `node` when not fused.
    pub last_node: Vec<NodeIdx>,
    /// First start to last end of work over the threads, ns.
    pub wall_ns: Vec<u64>,
    calls: Vec<OfCall>,
}

/// The executions of one graph call.
#[derive(Debug, Clone)]
pub struct OfCall {
    /// The call.
    pub call: GraphCallId,
    /// Their rows.
    pub rows: Range<usize>,
    /// Rows of their spans.
    pub spans: Range<usize>,
    /// Most spans of one of them.
    pub widest: u32,
}

/// What is known of a node's execution while the spans of its call are read.
#[derive(Clone, Copy, Default)]
struct Open {
    /// Its row, from 1 on; rows of earlier calls are stale.
    row: usize,
    start_ns: u64,
    spans: u32,
}

impl Executions {
    /// The executions of a session.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let widest = model.topologies.rows.iter().map(|s| s.nodes.len()).max().unwrap_or(0);
        let mut open = vec![Open::default(); widest];
        let mut all = Self::default();
        let tracing = Tracing::of(model);
        for (call, spans) in model.spans.by_call() {
            if tracing.whole(call.0 as usize) {
                all.add_call(call, &model.spans, spans, &mut open);
            }
        }
        // They stay while all else is computed.
        all.node.shrink_to_fit();
        all.last_node.shrink_to_fit();
        all.wall_ns.shrink_to_fit();
        all
    }

    fn add_call(&mut self, call: GraphCallId, spans: &Spans, of_call: Range<usize>, open: &mut [Open]) {
        let first = self.len();
        let mut widest = 1;
        for i in of_call.clone() {
            let (start, work) = (spans.start_ns[i], spans.work_ns[i]);
            let slot = &mut open[spans.node[i].0 as usize];
            if slot.row <= first {
                self.node.push(spans.node[i]);
                self.last_node.push(spans.last_node[i]);
                self.wall_ns.push(work);
                *slot = Open { row: self.node.len(), start_ns: start, spans: 1 };
                continue;
            }
            let row = slot.row - 1;
            let end = slot.start_ns.saturating_add(self.wall_ns[row]).max(start.saturating_add(work));
            slot.start_ns = slot.start_ns.min(start);
            slot.spans += 1;
            widest = widest.max(slot.spans);
            self.wall_ns[row] = end - slot.start_ns;
            self.last_node[row] = self.last_node[row].max(spans.last_node[i]);
        }
        self.calls.push(OfCall { call, rows: first..self.len(), spans: of_call, widest });
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

    /// The graph calls that have any, in order.
    #[must_use]
    pub fn calls(&self) -> &[OfCall] {
        &self.calls
    }

    /// The rows of each graph call that has any, by call.
    pub fn by_call(&self) -> impl Iterator<Item = (GraphCallId, Range<usize>)> + '_ {
        self.calls.iter().map(|c| (c.call, c.rows.clone()))
    }

    /// Rows of the spans of a graph call; none if it has no executions.
    #[must_use]
    pub fn spans_of(&self, call: GraphCallId) -> Range<usize> {
        self.calls.binary_search_by_key(&call, |c| c.call).map_or(0..0, |at| self.calls[at].spans.clone())
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
