//! Operator spans.

use std::ops::Range;

use super::counter::Counts;
use super::graph::{GraphCallId, NodeIdx};
use super::rows::rows;
use super::thread::ThreadId;

/// Position in [`Spans`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub u32);

/// Value of [`Spans::wait_ns`] where the end of the wait was not seen.
pub const WAIT_UNKNOWN: u32 = u32::MAX;

/// Columns, one row per span: one operator on one thread. Ordered by graph call, then thread, then
/// start. A span's graph call always has a topology.
#[derive(Debug, Default, Clone)]
pub struct Spans {
    /// Graph call.
    pub graph_call: Vec<GraphCallId>,
    /// Thread.
    pub thread: Vec<ThreadId>,
    /// Node of the call's topology.
    pub node: Vec<NodeIdx>,
    /// Last node that the same kernel computed; equal to `node` when not fused.
    pub last_node: Vec<NodeIdx>,
    /// Start of work, ns.
    pub start_ns: Vec<u64>,
    /// Length of work, ns.
    pub work_ns: Vec<u64>,
    /// Wait at the barrier after it, ns: until the thread's next span in the same graph call, for
    /// the last span until the end of the graph call; [`WAIT_UNKNOWN`] when the end was not seen.
    pub wait_ns: Vec<u32>,
    /// CPU on which the work ended; `None` when not recorded.
    pub cpu: Vec<Option<u16>>,
    /// Work began on another CPU, as far as both are known.
    pub migrated: Vec<bool>,
    /// Counter values, row by row.
    pub counts: Counts,
}

rows!(Spans, start_ns);

impl Spans {
    /// The graph calls with spans, in order, with their rows.
    pub fn by_call(&self) -> impl Iterator<Item = (GraphCallId, Range<usize>)> {
        runs(&self.graph_call, 0)
    }

    /// The threads with spans among the rows of one graph call, in order, with their rows.
    pub fn by_thread(&self, of_call: Range<usize>) -> impl Iterator<Item = (ThreadId, Range<usize>)> {
        let first = of_call.start;
        runs(&self.thread[of_call], first)
    }
}

/// Runs of equal consecutive values, with their rows; `start` is the row of the first.
fn runs<T: Copy + PartialEq>(column: &[T], mut start: usize) -> impl Iterator<Item = (T, Range<usize>)> {
    column.chunk_by(|a, b| a == b).map(move |same| {
        let rows = start..start + same.len();
        start = rows.end;
        (same[0], rows)
    })
}
