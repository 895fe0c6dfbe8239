//! Totals of a session that is still running. Their memory does not grow with the session.

use std::collections::BTreeMap;

use super::gauge::{GaugeKind, GaugeUnit};
use super::loss::{ExpertLedger, Ledger, NestedLedger, PartLedger, SchedLedger};

/// Upper limits of the classes by duration, ns: from 250 µs, each twice the one before, to 65.5 s. What took longer is in none of them.
pub const LIMITS_NS: [u64; 19] = {
    let mut limits = [250_000; 19];
    let mut i = 1;
    while i < limits.len() {
        limits[i] = limits[i - 1] * 2;
        i += 1;
    }
    limits
};

/// Most gauges that are kept; a stream that claims more is not believed.
pub const MAX_GAUGES: usize = 1024;

/// What a running session came to so far.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Meter {
    /// Who is traced, and where.
    pub about: About,
    /// Frames that were damaged or missing.
    pub damaged: u64,
    /// Token calls, by how many tokens they had: see [`Batch`].
    pub calls: [PhaseCalls; 3],
    /// Token calls that answered with an error; they are in `calls` too.
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
    /// What was lost of operators, and of all that has no ledger of its own.
    pub ledger: Option<Ledger>,
    /// What was lost of nested calls.
    pub nested_ledger: Option<NestedLedger>,
    /// What was lost of the scheduler's events.
    pub sched_ledger: Option<SchedLedger>,
    /// What was lost of selections of experts.
    pub expert_ledger: Option<ExpertLedger>,
    /// What was lost of parts of batches.
    pub part_ledger: Option<PartLedger>,
    /// The board's sensors by their numbers, at most [`MAX_GAUGES`].
    pub gauges: BTreeMap<u16, Reading>,
}

/// Who is traced, and where.
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

/// How many tokens a token call had. Of the phases only what one call alone tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// One: a text is continued.
    One,
    /// Several: a prompt is read, or several texts are continued.
    Several,
    /// It could not be read.
    Unknown,
}

impl Batch {
    /// All, in the order of [`Meter::calls`].
    pub const ALL: [Self; 3] = [Self::One, Self::Several, Self::Unknown];

    /// Of a call with so many tokens.
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

/// Token calls of one kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PhaseCalls {
    /// Their number.
    pub calls: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Their time, ns.
    pub ns: u64,
    /// How many took at most each of [`LIMITS_NS`], and more than the one before.
    pub by_duration: [u64; LIMITS_NS.len()],
}

/// A sensor and its last value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Name for people.
    pub name: String,
    /// What it tells.
    pub kind: GaugeKind,
    /// Unit of the value.
    pub unit: GaugeUnit,
    /// The last value; `None` before the first and where the sensor gave none.
    pub value: Option<i64>,
}
