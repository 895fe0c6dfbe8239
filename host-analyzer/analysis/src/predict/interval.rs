//! Uncertainty of a prediction, from predicting the recordings from each other.

use super::estimate::Estimate;
use super::rates::Stage;
use super::run::Run;
use super::target::Target;
use crate::stats::student::student;

/// One recording, predicted from the others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LeftOut {
    /// Natural logarithm of measured by predicted time of a decode call; `None` where the others do
    /// not suffice.
    pub decode: Option<f64>,
    /// The same for a prompt.
    pub prefill: Option<f64>,
    /// The same for a decode call by the one-parameter rule.
    pub one_parameter: Option<f64>,
    /// None of the others has one of its types.
    pub unseen: bool,
}

/// Source of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Predictions of the recordings from each other.
    LeftOut,
    /// Too few recordings: a fixed share.
    Few,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// ns.
    pub low_ns: f64,
    /// ns.
    pub high_ns: f64,
    /// Source of the interval.
    pub by: By,
    /// Number of predictions.
    pub predictions: usize,
}

/// Fewest leave-one-out predictions for an interval.
pub const FEWEST: usize = 3;

/// Half width with fewer recordings, as a share, if they contain all types.
pub const FEW: f64 = 0.25;

/// Half width with fewer recordings, as a share, if a type is missing.
pub const UNSEEN: f64 = 0.5;

/// Smallest half width: two sessions of the same setup differ this much.
const LEAST: f64 = 0.03;

/// Predicts each recording from the others.
#[must_use]
pub fn left_out(runs: &[&Run]) -> Vec<LeftOut> {
    let of = |i: usize| {
        let others: Vec<&Run> = runs.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, r)| *r).collect();
        let target = Target::of_run(runs[i]);
        let estimate = |stage: Stage| {
            let measured = stage.of(runs[i])?.call_ns;
            let estimate = Estimate::compute(&target, &others, stage)?;
            let error = (measured / estimate.ns()).ln();
            Some((error, estimate.has_unseen())).filter(|_| error.is_finite())
        };
        let decode = estimate(Stage::Decode);
        let law = super::peers::one_parameter_ns(target.streamed_bytes, &others);
        LeftOut {
            decode: decode.map(|d| d.0),
            prefill: estimate(Stage::Prefill).map(|d| d.0),
            one_parameter: law.map(|ns| (runs[i].decode.call_ns / ns).ln()).filter(|e| e.is_finite()),
            unseen: decode.is_some_and(|d| d.1),
        }
    };
    (0..runs.len()).map(of).collect()
}

impl Interval {
    /// The 95 % interval for a further model similar to the recordings. If a type is missing in all
    /// recordings, it is extended by the range of the recorded types.
    pub(super) fn new(estimate: &Estimate, left_out: &[LeftOut], stage: Stage) -> Self {
        let unseen = estimate.has_unseen();
        let error = |l: &LeftOut| if stage == Stage::Decode { l.decode } else { l.prefill };
        let alike: Vec<f64> = left_out.iter().filter(|l| l.unseen == unseen).filter_map(error).collect();
        let errors = if alike.len() >= FEWEST { alike } else { left_out.iter().filter_map(error).collect() };
        let n = errors.len();
        let (half, by) = if n >= FEWEST {
            let spread = (errors.iter().map(|e| e * e).sum::<f64>() / n as f64).sqrt();
            let half = student(n - 1) * spread * (1.0 + 1.0 / n as f64).sqrt();
            (half.max(LEAST), By::LeftOut)
        } else {
            ((1.0 + if unseen { UNSEEN } else { FEW }).ln(), By::Few)
        };
        let (low, high) = estimate.bracket_ns();
        let ns = estimate.ns();
        Self { low_ns: low.min(ns * (-half).exp()), high_ns: high.max(ns * half.exp()), by, predictions: n }
    }
}
