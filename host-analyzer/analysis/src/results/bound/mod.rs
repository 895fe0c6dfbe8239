//! What limits each operator: the resource that would have to be faster.
//!
//! Stage: analysis. From: operators, their work, ceilings, counters, cost of the probes. To: a
//! [`Bound`] for each operator. Promises: every verdict has the numbers that support it. Without
//! ceilings, no verdict about memory or arithmetic has high confidence. An operator with too little
//! data is [`Kind::Unknown`].
//!
//! The first match decides, in this order: page faults, disturbance from outside, size, roofline,
//! barrier wait, counters, intensity.

mod counted;
mod evidence;
mod roofline;

pub use counted::Counted;
pub use evidence::Evidence;

use super::cost::Cost;
use super::op::{Op, Operator, host_side};
use super::roof::Roofs;
use super::work::{Achieved, Done};

/// What limits an operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Memory bandwidth.
    Memory,
    /// Arithmetic of the cores.
    Compute,
    /// Waiting for the slowest thread.
    Synchronisation,
    /// Other tasks that had its CPUs.
    Interference,
    /// Pages that are read from a disk.
    Io,
    /// The cost of starting an operator: it has almost no work.
    Dispatch,
    /// Too little data, or no dominant limit.
    #[default]
    Unknown,
}

impl Kind {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Synchronisation => "synchronisation",
            Self::Interference => "interference",
            Self::Io => "I/O",
            Self::Dispatch => "dispatch",
            Self::Unknown => "unknown",
        }
    }
}

/// Confidence of a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// One number that allows another interpretation.
    #[default]
    Low,
    /// One clear number, or two numbers that agree.
    Medium,
    /// Numbers far beyond their thresholds.
    High,
}

/// A verdict on one operator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bound {
    pub by: Kind,
    pub confidence: Confidence,
    /// The numbers, decisive one first.
    pub evidence: Vec<Evidence>,
}

/// The data of one operator.
struct Known<'a> {
    operator: &'a Operator,
    done: &'a Done,
    roofs: &'a Roofs,
    counted: Option<&'a Counted>,
    /// Share of its wall time during which other tasks had its CPUs, 0 to 1; only with the
    /// scheduler level.
    disturbed: Option<f64>,
    probe_inside_ns: Option<u64>,
}

/// Shortest time of a fault that reads a page from flash, ns: a 4 KiB random read of a fast NVMe
/// drive. eMMC and SD cards take ten times as long.
const MAJOR_FAULT_NS: u64 = 20_000;
/// Smallest share of the wall time for faults or other tasks to count as the limit.
const TAKEN: f64 = 0.1;
/// The same with high confidence.
const TAKEN_CLEARLY: f64 = 0.5;
/// An operator shorter than this many times the probe's own addition has almost no work.
const TINY: u64 = 2;
/// If the mean exceeds the limit of the median by this factor, single executions were delayed.
const HELD_UP: u64 = 2;
/// Smallest share of the threads' time at the barrier for the wait to count as the limit.
const WAITED: f64 = 0.4;
/// The same with high confidence.
const WAITED_CLEARLY: f64 = 0.6;

/// The verdicts, by row of [`Op::operators`]. `disturbed` is the share of each operator's wall time
/// during which other tasks had its CPUs, by the same rows. It is empty without the scheduler
/// level.
#[must_use]
pub fn bounds(
    op: &Op,
    achieved: &Achieved,
    roofs: &Roofs,
    counted: &[Counted],
    disturbed: &[f64],
    cost: &Cost,
) -> Vec<Bound> {
    op.operators
        .iter()
        .zip(&achieved.operators)
        .enumerate()
        .map(|(i, (operator, done))| {
            bound(&Known {
                operator,
                done,
                roofs,
                counted: counted.get(i),
                disturbed: disturbed.get(i).copied(),
                probe_inside_ns: cost.probe_inside_ns,
            })
        })
        .collect()
}

fn bound(known: &Known<'_>) -> Bound {
    // The time of submitting a kernel shows nothing about the kernel.
    if host_side(&known.operator.backend) {
        return Bound::default();
    }
    [faults, interference, tiny, roofline::by_ceilings, waited, roofline::by_counters, roofline::by_intensity]
        .iter()
        .find_map(|rule| rule(known))
        .unwrap_or_else(|| Bound { evidence: roofline::shares(known), ..Bound::default() })
}

fn sure(share: f64, clearly: f64) -> Confidence {
    if share >= clearly { Confidence::High } else { Confidence::Medium }
}

fn faults(known: &Known<'_>) -> Option<Bound> {
    let faults = known.counted?.major_faults.filter(|n| *n > 0)?;
    let share = faults.saturating_mul(MAJOR_FAULT_NS) as f64 / known.operator.work_ns.max(1) as f64;
    let evidence = vec![Evidence::MajorFaults { faults, share: share.min(1.0) }];
    (share >= TAKEN).then(|| Bound { by: Kind::Io, confidence: sure(share, TAKEN_CLEARLY), evidence })
}

fn interference(known: &Known<'_>) -> Option<Bound> {
    let share = known.disturbed.filter(|share| *share >= TAKEN)?;
    let evidence = vec![Evidence::Disturbed { share }];
    Some(Bound { by: Kind::Interference, confidence: sure(share, TAKEN_CLEARLY), evidence })
}

fn tiny(known: &Known<'_>) -> Option<Bound> {
    let (median_ns, inside_ns) = (known.operator.median_ns?, known.probe_inside_ns.filter(|ns| *ns > 0)?);
    let limit = TINY.saturating_mul(inside_ns);
    let mean_ns = known.operator.wall_ns / known.operator.executions.max(1);
    if median_ns >= limit || mean_ns >= HELD_UP.saturating_mul(limit) {
        return None;
    }
    let evidence = vec![Evidence::Tiny { median_ns, probe_inside_ns: inside_ns }];
    let confidence = if median_ns <= inside_ns { Confidence::High } else { Confidence::Medium };
    Some(Bound { by: Kind::Dispatch, confidence, evidence })
}

fn waited(known: &Known<'_>) -> Option<Bound> {
    let o = known.operator;
    let wait_ns = o.wait_ns?;
    let all = o.work_ns.saturating_add(wait_ns);
    let share = wait_ns as f64 / all.max(1) as f64;
    let mut evidence = vec![Evidence::Waited { wait_ns, share }];
    evidence.extend(roofline::shares(known));
    (share >= WAITED).then(|| Bound {
        by: Kind::Synchronisation,
        confidence: sure(share, WAITED_CLEARLY),
        evidence,
    })
}
