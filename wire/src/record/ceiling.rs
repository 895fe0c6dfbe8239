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

/// Why a reading curve has no points at larger working sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CurveEnd {
    /// It is not a curve, or larger points follow.
    Open,
    /// It reached four times the last-level cache: what is read again has left the cache.
    Cache,
    /// The memory allowed no more.
    Memory,
    /// The time allowed no more.
    Time,
}

/// Bits of [`CeilingPoint::doubts`].
pub mod doubt {
    /// The repetitions vary too much for a usable median.
    pub const UNSTABLE: u32 = 1;
    /// An engine ran during the measurement.
    pub const ENGINE_RAN: u32 = 2;
}

/// A ceiling at one working set. A ceiling with such points is judged by them: their `doubts` decide, and the `note` of its
/// [`Ceiling`] is for people only. Kinds that read no memory have one point, whose working set is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingPoint<'a> {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs, as in [`Ceiling`].
    pub core: &'a str,
    /// CPUs that the threads ran on, a thread each: `0-3,6`.
    pub cpus: &'a str,
    /// What the measuring loop used.
    pub how: &'a str,
    /// Bytes that all threads together went through again and again; 0 for kinds that read no memory.
    pub working_set_bytes: u64,
    /// Repetitions, at least 1.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Least of them.
    pub min: u64,
    /// Most of them.
    pub max: u64,
    /// Bits of [`doubt`]; a reader takes a bit that it does not know for a doubt.
    pub doubts: u32,
    /// Why no larger point follows.
    pub end: CurveEnd,
}
