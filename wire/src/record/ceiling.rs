//! Ceilings: what the board can do at best, as the agent measured it there.

use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CeilingKind {
    /// Reading memory, bytes per second.
    Read,
    /// Copying memory, bytes per second; a byte that is read and written counts once.
    Copy,
    /// Products of 8-bit integers, operations per second; a multiplication and an addition are two.
    Int8,
    /// Multiply-accumulate in 32-bit floats, operations per second.
    F32,
    /// Multiply-accumulate in 16-bit floats, operations per second.
    F16,
    /// All threads reach a barrier by spinning and leave it, ns.
    Barrier,
    /// A sleeping thread runs after it was woken, ns.
    WakeUp,
}

/// One ceiling. `median`, `min` and `max` are in the unit of the kind; without repetitions nothing was measured, and the
/// three are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling<'a> {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs as the kernel tells it; several joined by `+`; empty when not known.
    pub core: &'a str,
    /// CPUs that the threads ran on, a thread each: `0-3,6`.
    pub cpus: &'a str,
    /// What the measuring loop used, for example `sdot` or `AVX2`.
    pub how: &'a str,
    /// Repetitions.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Least of them.
    pub min: u64,
    /// Most of them.
    pub max: u64,
    /// Why there are no repetitions, or what makes the figures doubtful; empty when nothing does.
    pub note: &'a str,
}
