//! Random series that are the same in each run.

use profinfer_trace::test_support::random::Random;

/// A series in which each value keeps `memory` of the one before it; mean 0, variance of the noise 1.
pub(super) fn series(random: &mut Random, n: usize, memory: f64) -> Vec<f64> {
    let mut x = random.normal() / (1.0 - memory * memory).sqrt();
    let mut next = || {
        x = memory * x + random.normal();
        x
    };
    (0..n).map(|_| next()).collect()
}
