//! Tracks of the timeline, and the slices on them.
//!
//! Stage: analysis. From: calls and spans. To: one [`Track`] per row of the timeline. Promises: this is the only
//! definition of tracks and slices, so that all timeline files and `summary.json` agree; on a track, slices are
//! in order of start and nest properly (of two slices, one lies inside the other, or they do not overlap),
//! whatever the model says; no slice is cut or left out.

mod build;
mod nest;
mod order;
mod walk;

use profinfer_trace::model::{GraphCallId, LlamaCallId, Model, SpanId, ThreadId, WAIT_UNKNOWN};

pub use build::tracks;
pub use order::Order;
pub use walk::Edge;

/// What a track shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackKind {
    /// Token calls.
    Token,
    /// Graph-level calls: whole graphs with the splits that the backends computed inside.
    Graph,
    /// Operators of one thread, and its waits at the barrier.
    Thread,
}

/// One row of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Process; 0 when the stream did not tell.
    pub process: u32,
    /// Name, unique in its process: `token`, `graph`, or name and id of the thread.
    pub track: String,
    /// What it shows.
    pub kind: TrackKind,
    /// Thread that made the calls or ran the operators.
    pub tid: u32,
    /// Number of slices.
    pub slices: u64,
    /// Sum of their lengths, ns; a slice inside another counts too.
    pub total_ns: u64,
    /// Row of the thread.
    pub thread: ThreadId,
    /// 0; more for slices that overlap others without nesting, which no thread of a healthy recording has.
    pub lane: u32,
    /// The slices, by start; of two with the same start, the outer one first.
    pub order: Order,
}

/// One slice: a row of a table of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slice {
    /// Token call.
    Decode(LlamaCallId),
    /// Graph-level call.
    Graph(GraphCallId),
    /// Work of an operator.
    Work(SpanId),
    /// Wait at the barrier behind an operator.
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

/// The wait behind a span is a slice: it was seen, and it is not empty.
const fn is_slice(wait_ns: u32) -> bool {
    wait_ns != WAIT_UNKNOWN && wait_ns != 0
}
