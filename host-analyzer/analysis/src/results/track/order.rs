//! The slices of a track in four bytes each, because a recording has two slices per span.

use std::ops::Range;

use super::{Slice, TrackKind};
use profinfer_trace::model::{GraphCallId, LlamaCallId, SpanId};

/// Slices of one kind of track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    kind: TrackKind,
    slices: Vec<Packed>,
}

/// A slice without its kind: the row in its table. On a thread's track it is twice the row of a
/// span, plus one for the wait after it. The tables of a session with 2³¹ spans would take 90 GB,
/// so this cannot overflow first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed(u32);

impl Packed {
    pub(super) const fn decode(LlamaCallId(row): LlamaCallId) -> Self {
        Self(row)
    }

    pub(super) const fn graph(GraphCallId(row): GraphCallId) -> Self {
        Self(row)
    }

    pub(super) const fn work(SpanId(row): SpanId) -> Self {
        Self(row << 1)
    }

    pub(super) const fn barrier(SpanId(row): SpanId) -> Self {
        Self(row << 1 | 1)
    }

    #[inline]
    pub(super) const fn slice(self, kind: TrackKind) -> Slice {
        match (kind, self.0 & 1) {
            (TrackKind::Token, _) => Slice::Decode(LlamaCallId(self.0)),
            (TrackKind::Graph, _) => Slice::Graph(GraphCallId(self.0)),
            (TrackKind::Thread, 0) => Slice::Work(SpanId(self.0 >> 1)),
            (TrackKind::Thread, _) => Slice::Barrier(SpanId(self.0 >> 1)),
        }
    }
}

impl Order {
    pub(super) const fn new(kind: TrackKind, slices: Vec<Packed>) -> Self {
        Self { kind, slices }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = Slice> + '_ {
        self.range(0..self.len())
    }

    pub fn range(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = Slice> + '_ {
        self.slices[range].iter().map(|packed| packed.slice(self.kind))
    }

    /// Number of leading slices for which `holds` is true. It must be false for all later ones.
    pub fn partition_point(&self, holds: impl Fn(Slice) -> bool) -> usize {
        self.slices.partition_point(|packed| holds(packed.slice(self.kind)))
    }
}
