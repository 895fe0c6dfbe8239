//! `operators[].bound`: the limiting resource of an operator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What limits the speed of an operator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// Limiting resource.
    pub by: BoundBy,
    /// Confidence in `by`.
    pub confidence: Confidence,
    /// The numbers, the decisive one first.
    pub evidence: Vec<BoundEvidence>,
}

/// The resource that limits an operator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundBy {
    /// Memory bandwidth.
    Memory,
    /// Arithmetic throughput of the cores.
    Compute,
    /// Threads wait at the barrier for the slowest one.
    Synchronisation,
    /// Other tasks occupied its CPUs.
    Interference,
    /// Page faults that read from storage.
    Io,
    /// The fixed cost of starting an operator; it has almost no work.
    Dispatch,
    /// Not enough data, or no clear limit.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Confidence in a verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// From one number that allows other explanations.
    #[default]
    Low,
    /// From one clear number, or from two numbers that agree.
    Medium,
    /// From numbers far beyond their thresholds.
    High,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A number and its reference value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundEvidence {
    /// Quantity.
    pub kind: BoundEvidenceKind,
    /// Value, in the unit of `kind`; `null` if the kind has only a share.
    pub value: Option<f64>,
    /// Reference value, in the same unit; `null` without one.
    pub against: Option<f64>,
    /// Share of a ceiling, of thread time, of cycles, of the bytes that had to be read, or of the
    /// wall time.
    pub share: Option<f64>,
}

/// Quantity of a piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundEvidenceKind {
    /// Bytes read and written per second; reference: the read ceiling.
    Bandwidth,
    /// Operations per second; reference: the arithmetic ceiling of the type.
    Arithmetic,
    /// Operations per byte.
    Intensity,
    /// Barrier wait summed over threads, ns; `share` of work plus wait.
    Waited,
    /// Cycles in which the core stalled for data or for an execution unit; only `share`.
    BackendStalls,
    /// Bytes that the last-level cache read from memory; `share` of the bytes that had to be read.
    Refills,
    /// Instructions per cycle.
    Ipc,
    /// Number of page faults that read from storage; `share` of the work.
    MajorFaults,
    /// Part of the wall time in which other tasks occupied its CPUs; only `share`.
    Disturbed,
    /// Median wall time, ns; reference: the probe's part of it, ns.
    Tiny,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
