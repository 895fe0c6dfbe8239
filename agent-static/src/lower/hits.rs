//! Hits of each level, by process.

/// Numbers of calls and operators that were seen in a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hits {
    /// Decode calls that began.
    pub calls: u64,
    /// Decode calls that returned.
    pub returned: u64,
    /// Graphs that the scheduler has computed.
    pub scheduler: u64,
    /// Graphs that the scheduler began to compute.
    pub begun: u64,
    /// Graphs with nodes that the CPU backend has computed.
    pub cpu: u64,
    /// Operators with start and end.
    pub operators: u64,
}
