//! Operator level.

use serde::{Deserialize, Serialize};

use crate::predicted::{Memory, Predicted, UsualCounts, Usually};
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

/// As [`SpanBatch`] and [`super::counter::CountedBatch`], in the code of [`crate::predicted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedBatch<'a> {
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
    /// Number of nodes after which the topology repeats, 1 to [`crate::predicted::MAX_PERIOD`].
    pub period: u16,
    /// Each span comes with what it counted.
    pub counted: bool,
    /// The spans.
    #[serde(serialize_with = "super::in_one")]
    pub bytes: &'a [u8],
}

impl<'a> PredictedBatch<'a> {
    /// Decodes the spans. The memory is what the period needs of these two; if they are smaller, decoding fails.
    #[must_use]
    pub fn spans<'m>(&self, usually: &'m mut [Usually], counts: &'m mut [UsualCounts]) -> Predicted<'a, 'm> {
        let period = usize::from(self.period);
        let counts = counts.get_mut(..if self.counted { period } else { 0 });
        let memory = usually.get_mut(..period).zip(counts).and_then(|(u, c)| Memory::new(u, c));
        match memory {
            Some(memory) => Predicted::new(self.base_ns, self.cpu, self.count, self.bytes, memory),
            None => Predicted::none(self.count),
        }
    }
}
