//! Quantiles of Student's t for 95 % intervals.

/// Quantile of the normal distribution for a 95 % interval.
pub(crate) const NORMAL: f64 = 1.96;

/// Student's quantiles for a 95 % interval, by degrees of freedom from 1.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// The quantile for `freedom` degrees of freedom, at least 1.
#[must_use]
pub(crate) fn student(freedom: usize) -> f64 {
    // Beyond the table, 1.96 + 2.6 / f is within 0.5 % of the quantile.
    let of_many = NORMAL + 2.6 / freedom.max(1) as f64;
    freedom.checked_sub(1).and_then(|at| STUDENT.get(at)).copied().unwrap_or(of_many)
}
