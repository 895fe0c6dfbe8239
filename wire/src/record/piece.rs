//! A recording in pieces: the records that the host writes at their boundaries. An agent sends none
//! of these.

use serde::{Deserialize, Serialize};

/// First frame of each piece except the first. The next `carried` frames are copies from earlier
/// pieces: they describe processes, probes, threads, texts and topologies, so that the piece can be
/// read alone. After them the stream continues where the previous piece ended.
///
/// This frame and the carried ones have the numbers just before the number with which the stream
/// continues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Number of the piece, from 1; the first one has no such record.
    pub number: u32,
    /// Copied frames after this one.
    pub carried: u32,
    /// Operator spans in earlier pieces. The agent's totals cover the complete session.
    pub spans: u64,
    /// Nested calls in earlier pieces.
    pub nested: u64,
    /// Switches, wake-ups, migrations and interrupts in earlier pieces.
    pub sched: u64,
    /// Selections of an expert in earlier pieces.
    pub experts: u64,
}

/// Last frame of a piece that another piece follows. Its number is that of the next piece's first
/// frame of the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceEnd {
    /// Number of this piece, from 1.
    pub number: u32,
}
