//! Edits of the memory of contexts.

/// What an edit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// Removes tokens of a sequence.
    Cut,
    /// Gives the tokens of a sequence to another one.
    Copy,
    /// Removes all tokens of all sequences.
    Clear,
}

/// The engine edited the memory of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// Process.
    pub pid: u32,
    /// Time, ns.
    pub at_ns: u64,
    /// Address of the memory of a context; of engines before 2025-06, of the context.
    pub memory: u64,
    /// What it does.
    pub kind: EditKind,
    /// Sequence; negative: all.
    pub seq: i32,
    /// First position; negative: the first one.
    pub from: i32,
    /// Position after the last one; negative: all up to the end.
    pub to: i32,
    /// Sequence that gets a copy; negative: none.
    pub target: i32,
}
