//! A recording in pieces: what the host writes at their borders. An agent sends none of these.

use serde::{Deserialize, Serialize};

/// First frame of each piece but the first one. The next `carried` frames stood in pieces before: what describes processes, probes,
/// threads, texts and topologies, so that the piece can be read alone. Behind them the stream goes on where the piece before ended.
///
/// The numbers of this frame and of those that are carried are the ones just before the number with which the stream goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Number of the piece, from 1; the first one has no such record.
    pub number: u32,
    /// Frames behind this one that stood in pieces before.
    pub carried: u32,
    /// Operator spans in the pieces before. The agent's totals are of the whole session.
    pub spans: u64,
    /// Nested calls in the pieces before.
    pub nested: u64,
    /// Switches, wake-ups, migrations and interrupts in the pieces before.
    pub sched: u64,
    /// Selections of an expert in the pieces before.
    pub experts: u64,
}

/// Last frame of a piece that another one follows. Its number is that of the first frame that goes on there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceEnd {
    /// Number of this piece, from 1.
    pub number: u32,
}
