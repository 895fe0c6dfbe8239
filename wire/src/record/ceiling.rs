//! Ceilings: the board's best results, as measured by the agent.

use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CeilingKind {
    /// Reading memory, bytes per second.
    Read,
    /// Copying memory, bytes per second; a byte that is read and written counts once.
    Copy,
    /// Products of 8-bit integers, operations per second; a multiplication and an addition are two
    /// operations.
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

/// One ceiling. `median`, `min` and `max` are in the unit of the kind. With 0 repetitions nothing
/// was measured, and the three are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling<'a> {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs as the kernel names it; several joined by `+`; empty when unknown.
    pub core: &'a str,
    /// CPUs that the threads ran on, one thread per CPU: `0-3,6`.
    pub cpus: &'a str,
    /// What the measuring loop used, for example `sdot` or `AVX2`.
    pub how: &'a str,
    /// Repetitions.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Smallest of them.
    pub min: u64,
    /// Largest of them.
    pub max: u64,
    /// Why there are no repetitions, or what makes the figures doubtful; otherwise empty.
    pub note: &'a str,
}

/// Why a reading curve has no points at larger working sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CurveEnd {
    /// It is not a curve, or larger points follow.
    Open,
    /// It reached four times the last-level cache: data that is read again has left the cache.
    Cache,
    /// The memory limit was reached.
    Memory,
    /// The time limit was reached.
    Time,
}

/// Bits of [`CeilingPoint::doubts`].
pub mod doubt {
    /// The repetitions vary too much for a usable median.
    pub const UNSTABLE: u32 = 1;
    /// An engine ran during the measurement.
    pub const ENGINE_RAN: u32 = 2;
}

/// A ceiling at one working set. If a ceiling has such points, their `doubts` decide whether it is
/// usable; the `note` of its [`Ceiling`] is only for people. Kinds that read no memory have one
/// point with working set 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingPoint<'a> {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs, as in [`Ceiling`].
    pub core: &'a str,
    /// CPUs that the threads ran on, one thread per CPU: `0-3,6`.
    pub cpus: &'a str,
    /// What the measuring loop used.
    pub how: &'a str,
    /// Bytes that all threads together read repeatedly; 0 for kinds that read no memory.
    pub working_set_bytes: u64,
    /// Repetitions, at least 1.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Smallest of them.
    pub min: u64,
    /// Largest of them.
    pub max: u64,
    /// Bits of [`doubt`]. A reader treats an unknown bit as a doubt.
    pub doubts: u32,
    /// Why no larger point follows.
    pub end: CurveEnd,
}

/// Who held the CPUs while a ceiling was measured: a bench beside a busy neighbour measures less
/// than the board can do. Belongs to the ceiling of the same kind, CPUs and way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingLoad<'a> {
    /// What was measured.
    pub kind: CeilingKind,
    /// CPUs that the threads ran on, one thread per CPU: `0-3,6`.
    pub cpus: &'a str,
    /// What the measuring loop used.
    pub how: &'a str,
    /// Time of the measurement, warm-up included, ns.
    pub wall_ns: u64,
    /// CPU time of everything except the measuring process in that time, on all CPUs of the
    /// machine, ns, interrupts and stolen time included. In steps of the kernel's tick.
    pub others_ns: u64,
    /// Process that had most CPU time in that time; 0 if none had a tick.
    pub pid: u32,
    /// Its name.
    pub name: &'a str,
    /// Its CPU time, ns, in steps of the kernel's tick.
    pub pid_ns: u64,
}
