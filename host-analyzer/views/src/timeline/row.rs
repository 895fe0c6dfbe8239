//! What a timeline consists of: processes, and rows of slices.

use std::ops::Range;

use profinfer_analysis::duty::stretches::Stretch;
use profinfer_analysis::sched::pieces::Piece;
use profinfer_analysis::track::Track;

/// One process of the timeline.
pub(super) struct Process<'a> {
    /// 0 if the stream did not contain it.
    pub(super) pid: u32,
    pub(super) name: String,
    /// Command line; empty if the stream did not contain it.
    pub(super) command: &'a str,
    /// From top to bottom.
    pub(super) rows: Vec<Row<'a>>,
}

/// One row: slices that nest.
pub(super) struct Row<'a> {
    /// Process id; 0 if the stream did not contain it.
    pub(super) process: u32,
    pub(super) name: String,
    /// Position in the process; a larger rank is further down.
    pub(super) rank: i32,
    pub(super) content: Content<'a>,
}

/// What a row shows.
pub(super) enum Content<'a> {
    /// The slices of a track at these positions of its order.
    Slices(&'a Track, Range<usize>),
    /// States of one thread, by start; they do not overlap.
    States(Vec<Piece>),
    /// States of the operator probes or of the controller, by start; they do not overlap.
    Probes(Vec<Stretch>),
}
