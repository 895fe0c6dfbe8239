//! Confidence interval of the mean of an autocorrelated series.
//!
//! The times of consecutive tokens are correlated, so the standard error for independent values is
//! too small. Blocking (Flyvbjerg and Petersen, "Error estimates on averages of correlated data",
//! J. Chem. Phys. 91, 1989) averages neighbours pairwise. Once blocks are longer than the
//! correlation time, the standard error of the mean stops growing.
//!
//! With few blocks, the estimate at the plateau is noisy and often too small: for an AR(0.8) series
//! of some hundred values, an interval from the plateau alone covers the mean too rarely. So the
//! result is the widest interval of all levels, each with Student's quantile for its number of
//! blocks.

use crate::stats::student::student;

/// Fewest blocks of a level. With fewer, Student's quantile is so large that the last level is
/// always the widest.
const FEWEST_BLOCKS: usize = 8;

/// Half width of the 95 % interval of the mean of `values`, in their unit. `None` for fewer than
/// eight values.
///
/// A linear trend is removed first: token times grow with the context, and that is not an error of
/// the mean over the same positions.
#[must_use]
pub fn half_width(values: &[f64]) -> Option<f64> {
    let mut blocks = without_trend(values);
    let mut widest: Option<f64> = None;
    while blocks.len() >= FEWEST_BLOCKS {
        let half = half_of_blocks(&blocks);
        widest = Some(widest.map_or(half, |w| w.max(half)));
        blocks = blocks.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
    }
    widest
}

/// Half width for independent blocks.
fn half_of_blocks(blocks: &[f64]) -> f64 {
    let n = blocks.len() as f64;
    let mean = blocks.iter().sum::<f64>() / n;
    let squares: f64 = blocks.iter().map(|b| (b - mean).powi(2)).sum();
    // Mean and slope are estimated from the values.
    let freedom = blocks.len() - 2;
    (squares / (freedom as f64 * n)).sqrt() * student(freedom)
}

/// Subtracts the least-squares line; the mean becomes 0.
fn without_trend(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let at = |i: usize| i as f64 - middle;
    let across: f64 = values.iter().enumerate().map(|(i, v)| at(i) * (v - mean)).sum();
    let along: f64 = (0..values.len()).map(|i| at(i).powi(2)).sum();
    let slope = if along > 0.0 { across / along } else { 0.0 };
    values.iter().enumerate().map(|(i, v)| v - mean - slope * at(i)).collect()
}
