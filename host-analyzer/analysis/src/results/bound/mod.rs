//! What bounds each operator: what would have to be faster for it to be faster.
//!
//! Stage: analysis. From: operators, their work, ceilings, counters, what the probes cost. To: a [`Bound`] for each operator.
//! Promises: every verdict carries the numbers that it rests on; without ceilings nothing is claimed with high confidence of memory or
//! arithmetic; an operator of which too little is known is [`Kind::Unknown`].
//!
//! The first that applies holds: page faults, disturbance from outside, size, roofline, wait at the barrier, counters, intensity.

mod counted;
mod evidence;
mod roofline;

pub use counted::Counted;
pub use evidence::Evidence;

use super::cost::Cost;
use super::op::{Op, Operator, host_side};
use super::roof::Roofs;
use super::work::{Achieved, Done};

/// What an operator is bound by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
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

/// How sure a verdict is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// From one number that allows another reading.
    #[default]
    Low,
    /// From one number that is clear, or from two that agree.
    Medium,
    /// From numbers far beyond their thresholds.
    High,
}

/// A verdict on one operator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bound {
    /// What bounds it.
    pub by: Kind,
    /// How sure that is.
    pub confidence: Confidence,
    /// The numbers, the decisive one first.
    pub evidence: Vec<Evidence>,
}

/// What is known of one operator.
struct Known<'a> {
    operator: &'a Operator,
    done: &'a Done,
    roofs: &'a Roofs,
    counted: Option<&'a Counted>,
    /// Part of its wall time that others had its CPUs, 0 to 1, where the scheduler was watched.
    disturbed: Option<f64>,
    probe_inside_ns: Option<u64>,
}

/// A fault that reads a page from flash takes at least so long, ns: a 4 KiB random read of a fast NVMe drive; eMMC and SD cards take ten
/// times as long.
const MAJOR_FAULT_NS: u64 = 20_000;
/// Part of the wall time that faults or others must have taken to count as the bound.
const TAKEN: f64 = 0.1;
/// The same with high confidence.
const TAKEN_CLEARLY: f64 = 0.5;
/// An operator shorter than so many times what its own probe adds to it has next to no work.
const TINY: u64 = 2;
/// A mean that is so many times the limit for the median comes from single executions that something held up.
const HELD_UP: u64 = 2;
/// Part of the threads' time at the barrier from which the wait is the bound.
const WAITED: f64 = 0.4;
/// The same with high confidence.
const WAITED_CLEARLY: f64 = 0.6;

/// The verdicts, by row of [`Op::operators`]. `disturbed` is the part of each operator's wall time that others had its CPUs, by the same
/// rows, or empty where the scheduler was not watched.
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
    // The time of handing a kernel over says nothing of the kernel.
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
