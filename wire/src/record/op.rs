//! Operator level.

use serde::{Deserialize, Serialize};

use crate::predicted::{Memory, Predicted, UsualCounts, Usually};
use crate::span::Spans;

/// Consecutive operator spans of one thread in one graph call. Several batches may belong to one
/// call. A batch may come before the [`super::graph::GraphCall`] that its `graph` names, which is
/// sent after the call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanBatch<'a> {
    /// Number of the graph call.
    pub graph: u32,
    /// Topology of that call; the spans' node indices refer to it.
    pub topology: u32,
    /// The thread.
    pub tid: u32,
    /// Start of the first span, ns.
    pub base_ns: u64,
    /// CPU against which the first span is coded.
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

/// As [`SpanBatch`] and [`super::counter::CountedBatch`], coded as in [`crate::predicted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedBatch<'a> {
    /// Number of the graph call.
    pub graph: u32,
    /// Topology of that call; the spans' node indices refer to it.
    pub topology: u32,
    /// The thread.
    pub tid: u32,
    /// Start of the first span, ns.
    pub base_ns: u64,
    /// CPU against which the first span is coded.
    pub cpu: u16,
    /// Number of spans.
    pub count: u16,
    /// Number of nodes after which the topology repeats, 1 to [`crate::predicted::MAX_PERIOD`].
    pub period: u16,
    /// Each span comes with its counter values.
    pub counted: bool,
    /// The spans.
    #[serde(serialize_with = "super::as_bytes")]
    pub bytes: &'a [u8],
}

impl<'a> PredictedBatch<'a> {
    /// Decodes the spans. The period determines the needed length of both slices. Decoding fails if
    /// they are shorter.
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
