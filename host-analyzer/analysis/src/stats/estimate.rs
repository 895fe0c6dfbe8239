//! Estimates from a sample of the tokens, with their confidence intervals.
//!
//! Tokens of a burst are alike: same clock, same number of KV cells, same load on the machine.
//! Intervals that treat each token as an independent draw would be too narrow. The sampling unit is
//! therefore the burst, which forms a cluster.

use crate::stats::student::{NORMAL, student};

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// 95 % interval. `None` for fewer than three bursts: too few to generalise from.
    pub interval: Option<Interval>,
}

/// Fewest clusters for an interval. The residuals of two clusters are always equal and opposite,
/// whatever their sizes, so a burst of a few tokens would seem to agree with a long one.
const FEWEST: usize = 3;

/// The ratio of two sums over clusters, each `(numerator, denominator)`. `None` where the
/// denominators are 0.
///
/// The interval is that of the ratio estimator for a one-stage cluster sample with clusters of
/// unequal size. The residuals `x - R y` of the clusters give the variance `n / (n - 1) Σ (x - R
/// y)² / (Σ y)²`, with Student's t for n - 1 degrees of freedom (Cochran, Sampling Techniques, 3rd
/// edition, 1977, sections 6.3 and 9A.1). The sampled share of the tokens is treated as small, so
/// the interval is too wide rather than too narrow.
#[must_use]
pub fn ratio(clusters: &[(f64, f64)]) -> Option<Estimate> {
    let n = clusters.len();
    let (x, y) = clusters.iter().fold((0.0, 0.0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    if y <= 0.0 {
        return None;
    }
    let value = x / y;
    let squares: f64 = clusters.iter().map(|(x, y)| (x - value * y).powi(2)).sum();
    let interval = (n >= FEWEST).then(|| {
        let half = student(n - 1) * (n as f64 / (n - 1) as f64 * squares).sqrt() / y;
        Interval { low: (value - half).max(0.0), high: value + half }
    });
    Some(Estimate { value, interval })
}

/// The median of independent values with its distribution-free 95 % interval. The interval is
/// bounded by two order statistics, chosen by the binomial distribution with p = 1/2 (David and
/// Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1). `None` for fewer than six values,
/// whose extremes cover the median less often. Reorders `values`.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<(f64, Interval)> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let at = rank(n)?.checked_sub(1)?;
    Some((middle(values)?, Interval { low: values[at], high: values[n - 1 - at] }))
}

/// Largest number of values for which no power of 1/2 underflows to 0.
const EXACT: usize = 1_000;

/// The largest rank, from 1, that exceeds the median of `n` values with a probability of at most
/// 2.5 %; 0 if there is none.
fn rank(n: usize) -> Option<usize> {
    if n > EXACT {
        return Some((n as f64 / 2.0 - NORMAL / 2.0 * (n as f64).sqrt()) as usize);
    }
    let mut below = 0.0;
    let mut term = 0.5_f64.powi(i32::try_from(n).ok()?);
    let mut rank = 0;
    // `below` is the probability that fewer than `rank` values are below the median.
    while rank < n / 2 && below + term <= 0.025 {
        below += term;
        term *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    Some(rank)
}

/// The median of sorted values; for an even number, the mean of the middle two. `None` for no
/// values.
pub(crate) fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = *sorted.get(n / 2)?;
    Some(if n % 2 == 1 { upper } else { f64::midpoint(sorted[n / 2 - 1], upper) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_clusters_by_hand() {
        // R = 12 / 6 = 2; residuals 4 - 2*1 = 2, 2 - 2*2 = -2, 6 - 2*3 = 0; variance 3/2 * 8 / 36.
        let e =
            ratio(&[(4.0, 1.0), (2.0, 2.0), (6.0, 3.0)]).unwrap_or(Estimate { value: 0.0, interval: None });
        let half = 4.303 * (1.5_f64 * 8.0).sqrt() / 6.0;
        assert_eq!(e.value, 2.0);
        // The low end would be negative.
        assert_eq!(e.interval.map(|i| (i.low, (i.high - 2.0 - half).abs() < 1e-12)), Some((0.0, true)));
        assert_eq!(ratio(&[(4.0, 1.0)]), Some(Estimate { value: 4.0, interval: None }));
        assert_eq!(ratio(&[(4.0, 1.0), (2.0, 2.0)]), Some(Estimate { value: 2.0, interval: None }));
        assert_eq!(ratio(&[]), None);
        assert_eq!(ratio(&[(1.0, 0.0), (2.0, 0.0)]), None);
    }

    #[test]
    fn the_interval_of_a_median_is_between_order_statistics() {
        let mut five = [5.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(median(&mut five), None);
        // 2 * 2^-6 = 3.1 %: the extremes of six.
        let mut six = [6.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(median(&mut six), Some((3.5, Interval { low: 1.0, high: 6.0 })));
        // Of ten values, the second and the ninth: 2 * (1 + 10) / 1024 = 2.1 %. With the third it
        // would be 10.9 %.
        let mut ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(median(&mut ten), Some((5.5, Interval { low: 2.0, high: 9.0 })));
        // Of a hundred values, the fortieth, as in David and Nagaraja's table.
        let mut hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(median(&mut hundred), Some((50.5, Interval { low: 40.0, high: 61.0 })));
        assert_eq!([rank(EXACT), rank(EXACT + 1)], [Some(469), Some(469)]);
    }
}
