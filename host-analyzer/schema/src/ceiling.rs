//! `ceilings`: what the board can do at best.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One ceiling, as the views show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// What was measured: `read`, `copy`, `int8`, `f32`, `f16`, `barrier` or `wake-up`.
    pub kind: CeilingKind,
    /// `bytes_per_s`, `ops_per_s` or `ns`.
    pub unit: String,
    /// Core types of the CPUs; `null` when not known.
    pub core: Option<String>,
    /// Number of threads, each on one of the CPUs.
    pub threads: u64,
    /// The CPUs.
    pub cpus: Vec<u16>,
    /// What the measuring loop used.
    pub how: String,
    /// Repetitions, 0 if it was not measured.
    pub repeats: u32,
    /// Median of the repetitions; this and the next two are `null` when it was not measured.
    pub median: Option<u64>,
    /// Least.
    pub min: Option<u64>,
    /// Most.
    pub max: Option<u64>,
    /// For people: why it was not measured, or what makes it doubtful; empty when nothing does.
    pub note: String,
    /// The working set of these figures; `null` for kinds that read no memory, and in recordings of
    /// older agents.
    pub working_set_bytes: Option<u64>,
    /// What makes these figures doubtful.
    pub doubts: Vec<Doubt>,
    /// Why the curve has no larger working set; `null` for what is no curve.
    pub end: Option<CurveEnd>,
    /// Of a curve, its points, the smallest working set first; the last one has the figures above.
    pub points: Vec<CurvePoint>,
}

/// A point of a curve, as the views show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Bytes that all threads together went through again and again.
    pub working_set_bytes: u64,
    /// Repetitions.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Least.
    pub min: u64,
    /// Most.
    pub max: u64,
    /// What makes it doubtful.
    pub doubts: Vec<Doubt>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    /// From the call that wakes a sleeping thread until it runs, ns.
    #[serde(rename = "wake-up")]
    WakeUp,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// What makes a ceiling doubtful.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The best repetition is half as fast again as the median.
    Unstable,
    /// An engine ran during the measurement.
    EngineRan,
    /// An agent that sends no codes wrote a `note`.
    Noted,
    /// A code of a newer agent.
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Why a curve has no larger working set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CurveEnd {
    /// The last points are lost.
    Open,
    /// It reached four times the last-level cache.
    Cache,
    /// The memory allowed no more.
    Memory,
    /// The time allowed no more.
    Time,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
