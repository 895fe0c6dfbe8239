//! `ceilings`: measured limits of the board.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measured limit of the board. The agent measures it before the session (`--bench`), or it comes
/// from a file (`--ceilings`), or from an earlier session on the same machine. Each way to compute
/// has a separate row. Doubtful figures are never used as a reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Measured quantity.
    pub kind: CeilingKind,
    /// Unit: `bytes_per_s`, `ops_per_s` or `ns`.
    pub unit: String,
    /// Core types of the CPUs, joined by `+`; `null` if unknown.
    pub core: Option<String>,
    /// Number of threads, one per CPU.
    pub threads: u64,
    /// CPU numbers.
    pub cpus: Vec<u16>,
    /// Instructions of the measuring loop.
    pub how: String,
    /// Repetitions; 0 if it was not measured.
    pub repeats: u32,
    /// Median of the repetitions. `median`, `min` and `max` are `null` if it was not measured.
    pub median: Option<u64>,
    /// Smallest repetition.
    pub min: Option<u64>,
    /// Largest repetition.
    pub max: Option<u64>,
    /// Why it was not measured, or why it is doubtful, as text; empty otherwise.
    pub note: String,
    /// Working set of these figures, bytes; `null` for kinds other than `read` and `copy`, and for
    /// older agents.
    pub working_set_bytes: Option<u64>,
    /// Reasons why these figures are doubtful.
    pub doubts: Vec<Doubt>,
    /// Why the curve has no larger working set; `null` for kinds other than `read` and `copy`, and
    /// for older agents.
    pub end: Option<CurveEnd>,
    /// Points of the curve by working set, the smallest first; the last point has the figures
    /// above. Empty for kinds other than `read` and `copy`, and for older agents.
    pub points: Vec<CurvePoint>,
    /// Where it comes from; absent in the output of older versions.
    pub source: Option<CeilingSource>,
    /// Of a `kept` ceiling, when that session began: ns since 1970.
    pub kept_unix_ns: Option<u64>,
    /// Other programs used more than a tenth of a CPU during the measurement, so the figures may be
    /// too low.
    pub polluted: Option<bool>,
    /// Who held the CPUs during the measurement; `null` for older agents.
    pub load: Option<CeilingLoad>,
}

/// Who held the CPUs while a ceiling was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingLoad {
    /// Time of the measurement, ns.
    pub wall_ns: u64,
    /// CPU time of everything except the agent on all CPUs, ns, in steps of the kernel's tick.
    pub others_ns: u64,
    /// Process with most of it; 0 if none had a tick.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Its CPU time, ns.
    pub pid_ns: u64,
}

/// Where a ceiling comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CeilingSource {
    /// Measured before this session.
    Recording,
    /// The file that the user named.
    Given,
    /// Measured in an earlier session on this machine, and kept.
    Kept,
    /// The board's profile, for any number of threads.
    Profile,
    /// The fastest operator of this recording: a lower bound of the ceiling.
    BestSeen,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A point of a read or copy curve.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Bytes that all threads together traversed repeatedly.
    pub working_set_bytes: u64,
    /// Repetitions.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Smallest repetition.
    pub min: u64,
    /// Largest repetition.
    pub max: u64,
    /// Reasons why it is doubtful.
    pub doubts: Vec<Doubt>,
}

/// Measured quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CeilingKind {
    /// Memory read bandwidth, bytes per second.
    Read,
    /// Memory copy bandwidth, bytes per second; a copied byte counts once.
    Copy,
    /// 8-bit integer products in registers, operations per second; a multiply-add counts as two.
    Int8,
    /// 32-bit float multiply-add in registers, operations per second; a multiply-add counts as two.
    F32,
    /// 16-bit float multiply-add in registers, operations per second; a multiply-add counts as two.
    F16,
    /// Barrier of all threads, spinning, ns.
    Barrier,
    /// From the call that wakes a sleeping thread until it runs, ns.
    #[serde(rename = "wake-up")]
    WakeUp,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Why a ceiling is doubtful.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The best repetition is 1.5 times the median or better.
    Unstable,
    /// An engine ran during the measurement.
    EngineRan,
    /// The agent sends no codes, but wrote a `note`.
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
    /// The last points were lost.
    Open,
    /// Four times the last-level cache was reached.
    Cache,
    /// Memory limit.
    Memory,
    /// Time limit.
    Time,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
