//! Totals of a running session. Their memory does not grow with the session.

use std::collections::BTreeMap;

use super::gauge::{GaugeKind, GaugeUnit};
use super::loss::{CpuUseLedger, ExpertLedger, Ledger, NestedLedger, PartLedger, SchedLedger};

/// Upper limits of the classes by duration, ns: from 250 µs, each twice the previous one, to 65.5
/// s. Longer calls are in no class.
pub const LIMITS_NS: [u64; 19] = {
    let mut limits = [250_000; 19];
    let mut i = 1;
    while i < limits.len() {
        limits[i] = limits[i - 1] * 2;
        i += 1;
    }
    limits
};

/// Most gauges that are kept. Further ones in a stream are ignored.
pub const MAX_GAUGES: usize = 1024;

/// Results of a running session so far.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Meter {
    /// The traced machine and agent.
    pub about: About,
    /// Damaged or missing frames.
    pub damaged: u64,
    /// Decode calls, by their number of tokens: see [`Batch`].
    pub calls: [PhaseCalls; 3],
    /// Decode calls that returned an error; they are in `calls` too.
    pub failed: u64,
    /// Graph calls of the scheduler, or of backends where there is none.
    pub graph_calls: u64,
    /// Their time, ns.
    pub graph_ns: u64,
    /// Operator spans that came.
    pub spans: u64,
    /// Nested calls that came.
    pub nested: u64,
    /// Events of the scheduler that came.
    pub sched: u64,
    /// Bytes of the stream that came.
    pub bytes: u64,
    /// Losses of operators, and of everything without a separate ledger.
    pub ledger: Option<Ledger>,
    /// Losses of nested calls.
    pub nested_ledger: Option<NestedLedger>,
    /// Losses of the scheduler's events.
    pub sched_ledger: Option<SchedLedger>,
    /// Losses of the CPUs' use.
    pub cpu_use_ledger: Option<CpuUseLedger>,
    /// Losses of selections of experts.
    pub expert_ledger: Option<ExpertLedger>,
    /// Losses of parts of batches.
    pub part_ledger: Option<PartLedger>,
    /// The board's sensors by their numbers, at most [`MAX_GAUGES`].
    pub gauges: BTreeMap<u16, Reading>,
}

/// The traced machine and agent.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct About {
    /// Board profile.
    pub board: String,
    /// `uname -m`.
    pub machine: String,
    /// The processor's name.
    pub cpu_model: String,
    /// `uname -r`.
    pub kernel: String,
    /// The agent's version.
    pub agent: String,
    /// When the session began, ns since 1970.
    pub start_unix_ns: u64,
}

/// A decode call by its number of tokens: what a single call shows of its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// One: text generation.
    One,
    /// Several: prompt processing, or text generation for several sequences.
    Several,
    /// Unknown.
    Unknown,
}

impl Batch {
    /// All, in the order of [`Meter::calls`].
    pub const ALL: [Self; 3] = [Self::One, Self::Several, Self::Unknown];

    /// The kind of a call with this many tokens.
    #[must_use]
    pub const fn new(n_tokens: Option<u32>) -> Self {
        match n_tokens {
            Some(1) => Self::One,
            Some(2..) => Self::Several,
            Some(0) | None => Self::Unknown,
        }
    }

    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Several => "several",
            Self::Unknown => "unknown",
        }
    }
}

/// Decode calls of one kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PhaseCalls {
    /// Their number.
    pub calls: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Their time, ns.
    pub ns: u64,
    /// Calls by duration: at most each of [`LIMITS_NS`], and more than the previous limit.
    pub by_duration: [u64; LIMITS_NS.len()],
}

/// A sensor and its last value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Name for people.
    pub name: String,
    /// What it measures.
    pub kind: GaugeKind,
    /// Unit of the value.
    pub unit: GaugeUnit,
    /// The last value; `None` before the first and where the sensor gave none.
    pub value: Option<i64>,
}
