//! Operator level.

use serde::{Deserialize, Serialize};

use crate::span::Spans;

/// Consecutive operator spans of one thread in one graph call. Several batches may belong to one call.
/// A batch may come before the [`super::graph::GraphCall`] that its `graph` names, which is sent when
/// the call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanBatch<'a> {
    /// Number of the graph call.
    pub graph: u32,
    /// Topology of that call; the spans' node indices count in it.
    pub topology: u32,
    /// The thread.
    pub tid: u32,
    /// Start of the first span, ns.
    pub base_ns: u64,
    /// CPU that the first span is coded against.
    pub cpu: u16,
    /// Number of spans.
    pub count: u16,
    /// The spans, see [`crate::span`].
    pub bytes: &'a [u8],
}

impl<'a> SpanBatch<'a> {
    /// Decodes the spans.
    #[must_use]
    pub const fn spans(&self) -> Spans<'a> {
        Spans::new(self.base_ns, self.cpu, self.count, self.bytes)
    }
}
