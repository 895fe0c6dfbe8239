//! How often each level of a process was seen to work.

/// How often a process was seen to do something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hits {
    /// Token-level calls that began.
    pub calls: u64,
    /// Token-level calls that returned.
    pub returned: u64,
    /// Graphs that the scheduler computed.
    pub scheduler: u64,
    /// Graphs that the scheduler began to compute.
    pub begun: u64,
    /// Graphs with nodes that the CPU backend computed.
    pub cpu: u64,
    /// Operators that were seen from start to end.
    pub operators: u64,
}
