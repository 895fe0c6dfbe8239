//! Time of a target for one token without its draft.
//!
//! A program that always drafts never runs its target alone. Two facts hold without a measurement:
//! a call with more tokens takes at least as long as a call with one token, and n tokens in one
//! call take at most n times as long as one. The work of a single token agrees: it reads all
//! weights like the batch, and has an nth of its operations.

use super::Verified;
use crate::stats::estimate::median;
use crate::stats::percentile::percentile;

/// Time of the target for one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// Median duration of a call, the estimate, or `high_ns`; ns.
    pub ns: u64,
    /// The least that it may be, ns: the lower end of the 95 % interval of the median, or a bound.
    pub low_ns: u64,
    /// The most that it may be, ns.
    pub high_ns: u64,
    /// Calls of the target with one token.
    pub calls: u64,
    pub by: PlainSource,
}

/// Source of the time, most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainSource {
    /// At least eight calls with one token.
    Calls,
    /// A straight line through the calls with more tokens.
    Line,
    /// The shortest call with more tokens, and the longest one divided by its tokens.
    Bounds,
}

impl Plain {
    /// Whether rounds that take `round_ns` and give `emitted` tokens each are faster than single
    /// tokens; `None` if what a single token may take does not decide it.
    pub(super) fn wins(&self, emitted: f64, round_ns: f64) -> Option<bool> {
        let faster_than = |plain: u64| emitted * plain as f64 > round_ns;
        let (at_best, at_worst) = (faster_than(self.high_ns), faster_than(self.low_ns));
        (at_best == at_worst).then_some(at_best)
    }
}

/// Calls with one token that measure it. A program that drafts runs few of them, at its end or where
/// its draft had no guess, which are no typical ones.
const MEASURED: usize = 8;

/// Rounds of one size that the line needs.
const LINE_ROUNDS: u64 = 3;

/// From the target's calls with one token where there are enough, else from those with more; `None` without
/// any.
pub(super) fn plain(mut ones: Vec<u64>, sizes: &[Verified]) -> Option<Plain> {
    let calls = ones.len() as u64;
    let bounds = || {
        let high_ns = sizes.iter().map(|s| s.median_ns).min()?;
        // A few single tokens may all have been slow, so they are no lower bound.
        let several = sizes.iter().filter(|s| s.drafted > 0);
        let low_ns = several.map(|s| s.median_ns / (u64::from(s.drafted) + 1)).max()?;
        Some((low_ns.min(high_ns), high_ns))
    };
    let mut times: Vec<f64> = ones.iter().map(|ns| *ns as f64).collect();
    if let (MEASURED.., Some(ns), Some((_, within))) =
        (ones.len(), percentile(&mut ones, 50), median(&mut times))
    {
        let (low_ns, high_ns) = (ns.min(within.low as u64), ns.max(within.high as u64));
        return Some(Plain { ns, low_ns, high_ns, calls, by: PlainSource::Calls });
    }
    let (low_ns, high_ns) = bounds()?;
    let bounds = Plain { ns: high_ns, low_ns, high_ns, calls, by: PlainSource::Bounds };
    let line = line(sizes).filter(|ns| (low_ns..=high_ns).contains(ns));
    Some(line.map_or(bounds, |ns| Plain { ns, by: PlainSource::Line, ..bounds })).filter(|p| p.ns > 0)
}

/// Time of a call without draft tokens, by the straight line through the medians of those with
/// draft tokens, ns.
fn line(sizes: &[Verified]) -> Option<u64> {
    let points: Vec<&Verified> = sizes.iter().filter(|s| s.rounds >= LINE_ROUNDS).collect();
    let sum = |of: &dyn Fn(&Verified) -> f64| points.iter().map(|p| p.rounds as f64 * of(p)).sum::<f64>();
    let weight = sum(&|_| 1.0);
    let (x, y) = (sum(&|p| f64::from(p.drafted)) / weight, sum(&|p| p.median_ns as f64) / weight);
    let square = sum(&|p| (f64::from(p.drafted) - x).powi(2));
    if points.len() < 2 || square <= 0.0 {
        return None;
    }
    let slope = sum(&|p| (f64::from(p.drafted) - x) * (p.median_ns as f64 - y)) / square;
    let ns = y - slope * x;
    (ns > 0.0).then_some(ns as u64)
}
