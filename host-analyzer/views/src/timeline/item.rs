//! What a slice shows, with its label.

use super::label::{self, Label};
use super::{probes, state};
use profinfer_analysis::Analysis;
use profinfer_analysis::duty::stretches::Stretch;
use profinfer_analysis::sched::pieces::Piece;
use profinfer_analysis::track::Slice;
use profinfer_trace::model::{Model, SpanId};

/// What a slice shows.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Slice(Slice),
    State(&'a Piece),
    Probes(&'a Stretch),
}

impl Item<'_> {
    /// Start and end, ns of the session's clock.
    pub(super) fn bounds(self, model: &Model) -> (u64, u64) {
        match self {
            Self::Slice(slice) => slice.bounds(model),
            Self::State(piece) => (piece.start_ns, piece.end_ns),
            Self::Probes(stretch) => (stretch.start_ns, stretch.end_ns),
        }
    }
}

/// The label of a slice, without its CPU.
pub(super) fn label(model: &Model, analysis: &Analysis, item: Item<'_>) -> Label {
    match item {
        Item::Slice(slice) => label::slice(model, &analysis.phases, slice),
        Item::State(piece) => state::label(model, piece.state, piece.task(model)),
        Item::Probes(stretch) => probes::label(analysis, stretch.what),
    }
}

/// The CPU of a slice if it is recorded, and whether the thread migrated during the slice.
pub(super) fn cpu(model: &Model, item: Item<'_>) -> Option<(u16, bool)> {
    match item {
        Item::Slice(Slice::Work(SpanId(i))) => {
            Some((model.spans.cpu[i as usize]?, model.spans.migrated[i as usize]))
        }
        Item::State(piece) => Some((piece.cpu, false)),
        _ => None,
    }
}
