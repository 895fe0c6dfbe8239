//! What the engine did for itself between operators.

/// What it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HousekeepingKind {
    /// Copied the state of a sequence out of the context: a checkpoint, or a cached prompt.
    SaveState,
    /// Copied it back.
    RestoreState,
    /// Allocated the memory of a graph anew.
    AllocateGraph,
    /// Waited until all backends had computed. Short waits are not recorded.
    Synchronize,
}

/// The engine copied the state of a sequence, allocated the memory of a graph, or waited for its backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Housekeeping {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// What it did.
    pub kind: HousekeepingKind,
    /// Start, ns.
    pub start_ns: u64,
    /// Duration, ns.
    pub duration_ns: u64,
    /// Copied bytes; 0 without a copy.
    pub bytes: u64,
}

impl Housekeeping {
    /// End, ns.
    #[must_use]
    pub const fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }
}
