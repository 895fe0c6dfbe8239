//! `operators[].bound`: what an operator is bound by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A verdict on one operator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// What bounds it.
    pub by: BoundBy,
    /// How sure that is.
    pub confidence: Confidence,
    /// The numbers, the decisive one first.
    pub evidence: Vec<BoundEvidence>,
}

/// What an operator is bound by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundBy {
    /// By the bytes that memory delivers.
    Memory,
    /// By the operations that the cores do.
    Compute,
    /// By threads that wait for the last of them.
    Synchronisation,
    /// By others that had its CPUs.
    Interference,
    /// By pages that are read from a disk.
    Io,
    /// By what it takes to start any operator: there is next to no work in it.
    Dispatch,
    /// Not enough is known, or nothing stands out.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// How sure a verdict is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// From one number that allows another reading.
    #[default]
    Low,
    /// From one number that is clear, or from two that agree.
    Medium,
    /// From numbers far beyond their thresholds.
    High,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// One number with what it is compared to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundEvidence {
    /// What it is a number of.
    pub kind: BoundEvidenceKind,
    /// The number, in the unit of its kind; `null` where the kind has only a share.
    pub value: Option<f64>,
    /// What it is compared to, in the same unit.
    pub against: Option<f64>,
    /// Part of a ceiling, of threads' time, of cycles, of the bytes that had to be read, or of the wall time.
    pub share: Option<f64>,
}

/// What a piece of evidence is a number of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundEvidenceKind {
    /// Bytes read and written per second, against the read ceiling.
    Bandwidth,
    /// Operations per second, against the ceiling of their arithmetic.
    Arithmetic,
    /// Operations per byte.
    Intensity,
    /// Wait at the barrier, ns, summed over threads; `share` of work and wait.
    Waited,
    /// Cycles in which the core waited for data or for a free unit; only `share`.
    BackendStalls,
    /// Bytes that the last cache read from memory; `share` of the bytes that had to be read.
    Refills,
    /// Instructions per cycle.
    Ipc,
    /// Page faults that read from storage; `share` of the work.
    MajorFaults,
    /// Part of the wall time in which others had its CPUs; only `share`.
    Disturbed,
    /// Median wall time, ns, against the part of it that is its probe, ns.
    Tiny,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
