//! Tracks of the timeline, and the slices on them.
//!
//! Stage: analysis. From: calls and spans. To: one [`Track`] per row of the timeline. Promises:
//! this is the only definition of tracks and slices, so all timeline files and `summary.json`
//! agree. On a track, slices are sorted by start and nest properly (of two slices, one is inside
//! the other, or they do not overlap), whatever the model contains. No slice is cut or dropped.

mod build;
mod nest;
mod order;
mod walk;

use profinfer_trace::model::{GraphCallId, LlamaCallId, Model, SpanId, ThreadId, WAIT_UNKNOWN};

pub use build::tracks;
pub use order::Order;
pub use walk::Edge;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackKind {
    /// `llama_decode` calls.
    Token,
    /// Graph calls: complete graphs, with the splits of the backends inside.
    Graph,
    /// Operators of one thread, and its waits at the barrier.
    Thread,
}

/// One row of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Process; 0 when not recorded.
    pub process: u32,
    /// Name, unique in its process: `token`, `graph`, or name and id of the thread.
    pub track: String,
    pub kind: TrackKind,
    /// Thread that made the calls or ran the operators.
    pub tid: u32,
    pub slices: u64,
    /// Sum of the durations, ns; nested slices count too.
    pub total_ns: u64,
    /// Row of the thread.
    pub thread: ThreadId,
    /// 0, or more for slices that overlap others without nesting. No thread of a healthy recording
    /// has such slices.
    pub lane: u32,
    /// The slices by start; for equal starts, the outer slice first.
    pub order: Order,
}

/// One slice: a row of a table of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slice {
    /// A `llama_decode` call.
    Decode(LlamaCallId),
    /// A graph call.
    Graph(GraphCallId),
    /// Work of an operator.
    Work(SpanId),
    /// Wait at the barrier after an operator.
    Barrier(SpanId),
}

impl Slice {
    /// Start and end, ns of the session's clock; the end is never before the start.
    #[must_use]
    #[inline]
    pub fn bounds(self, model: &Model) -> (u64, u64) {
        match self {
            Self::Decode(LlamaCallId(i)) => {
                let start = model.llama_calls.start_ns[i as usize];
                (start, start.saturating_add(model.llama_calls.duration_ns[i as usize]))
            }
            Self::Graph(call) => model.graph_calls.bounds(call),
            Self::Work(SpanId(i)) => {
                let start = model.spans.start_ns[i as usize];
                (start, start.saturating_add(model.spans.work_ns[i as usize]))
            }
            Self::Barrier(span @ SpanId(i)) => {
                let (_, start) = Self::Work(span).bounds(model);
                (start, start.saturating_add(u64::from(model.spans.wait_ns[i as usize])))
            }
        }
    }
}

/// The wait after a span is a slice: it was recorded, and it is not empty.
const fn is_slice(wait_ns: u32) -> bool {
    wait_ns != WAIT_UNKNOWN && wait_ns != 0
}
