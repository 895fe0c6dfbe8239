//! Edits of the memory of a context, between its decode calls.

use serde::{Deserialize, Serialize};

/// Values of [`Edit::kind`].
pub mod kind {
    /// Tokens of a sequence are removed, for example rejected guesses.
    pub const CUT: u8 = 0;
    /// A sequence gets the tokens of another one, for example of a shared prompt.
    pub const COPY: u8 = 1;
    /// All tokens of all sequences are removed.
    pub const CLEAR: u8 = 2;
}

/// The engine edits the memory of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Process.
    pub pid: u32,
    /// Time, ns.
    pub at_ns: u64,
    /// Address of the memory of a context; of engines before 2025-06, of the context.
    pub memory: u64,
    /// What is done, see [`kind`].
    pub kind: u8,
    /// Sequence; negative: all.
    pub seq: i32,
    /// First position; negative: the first one.
    pub from: i32,
    /// Position after the last one; negative: all up to the end.
    pub to: i32,
    /// Sequence that gets a copy; negative: none.
    pub target: i32,
}
