//! What the engine does for itself between operators.

use serde::{Deserialize, Serialize};

/// Values of [`Housekeeping::kind`].
pub mod kind {
    /// The state of a sequence is copied out of the context: a checkpoint, or a cached prompt.
    pub const SAVE_STATE: u8 = 0;
    /// The state of a sequence is copied back.
    pub const RESTORE_STATE: u8 = 1;
    /// The memory of a graph is allocated anew.
    pub const ALLOCATE_GRAPH: u8 = 2;
    /// The engine waits until all backends have computed.
    pub const SYNCHRONIZE: u8 = 3;
}

/// The engine copies the state of a sequence, allocates the memory of a graph anew, or waits for its backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Housekeeping {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// What is done, see [`kind`].
    pub kind: u8,
    /// Start, ns.
    pub start_ns: u64,
    /// Duration, ns.
    pub duration_ns: u64,
    /// Copied bytes; 0 without a copy.
    pub bytes: u64,
}
