//! Mean of a series of times, with its confidence interval.

use super::estimate::ratio;

/// A mean and the half width of its 95 % interval, by blocks of consecutive values, because a
/// disturbance lasts for several tokens (batch means: Law and Kelton, Simulation Modeling and
/// Analysis, chapter 9).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    pub(crate) half: f64,
}

/// Number of blocks, and the 97.5 % quantile of Student's t with one degree of freedom less.
const BLOCKS: usize = 8;
const T: f64 = 2.365;

impl Mean {
    pub(crate) fn new(values: &[u64]) -> Self {
        let mean_of = |v: &[u64]| v.iter().map(|x| *x as f64).sum::<f64>() / v.len().max(1) as f64;
        let mean = mean_of(values);
        if values.len() < BLOCKS {
            return Self { mean, half: mean };
        }
        // Uses all values; block sizes differ by at most one.
        let from = |block: usize| block * values.len() / BLOCKS;
        let blocks: Vec<f64> = (0..BLOCKS).map(|i| mean_of(&values[from(i)..from(i + 1)])).collect();
        let middle = blocks.iter().sum::<f64>() / BLOCKS as f64;
        let variance = blocks.iter().map(|b| (b - middle).powi(2)).sum::<f64>() / (BLOCKS - 1) as f64;
        Self { mean, half: T * (variance / BLOCKS as f64).sqrt() }
    }

    /// The mean of values from bursts, `(burst, value)` in order of bursts. Tokens of a burst are
    /// alike, so the burst is the sampling unit (see [`ratio`]).
    pub(crate) fn of_bursts(values: &[(u32, u64)]) -> Self {
        let sum = |b: &[(u32, u64)]| (b.iter().map(|(_, v)| *v as f64).sum(), b.len() as f64);
        let clusters: Vec<(f64, f64)> = values.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
        let Some(estimate) = ratio(&clusters) else { return Self::new(&[]) };
        let half = estimate.interval.map_or(estimate.value, |i| i.high - estimate.value);
        Self { mean: estimate.value, half }
    }

    /// Difference from another mean.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { mean: self.mean - other.mean, half: self.half.hypot(other.half) }
    }

    /// The mean of values that are this many times as large.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, half: self.half * factor }
    }

    pub(crate) fn low(&self) -> f64 {
        (self.mean - self.half).max(0.0)
    }

    pub(crate) fn high(&self) -> f64 {
        (self.mean + self.half).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_constant_is_a_point_and_of_few_values_everything() {
        assert_eq!(Mean::new(&[5; 80]), Mean { mean: 5.0, half: 0.0 });
        assert_eq!(Mean::new(&[5; 3]), Mean { mean: 5.0, half: 5.0 });
        assert_eq!(Mean::new(&[]).mean, 0.0);
    }

    #[test]
    fn blocks_of_a_slow_wave_are_told_apart() {
        // Eight blocks of ten: means 0, 8, 0, 8 …; their deviation is 8/2 * sqrt(8/7), divided by
        // sqrt(8), times t.
        let wave: Vec<u64> = (0..80).map(|i| if i / 10 % 2 == 0 { 0 } else { 8 }).collect();
        let m = Mean::new(&wave);
        assert!((m.mean - 4.0).abs() < 1e-9);
        assert!((m.half - 2.365 * 4.0 * (8.0_f64 / 7.0).sqrt() / 8.0_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn the_interval_of_bursts_is_that_of_their_means() {
        // Means 10, 20, 30 of two tokens each, t of 2 degrees of freedom.
        let of = |burst: u32, value: u64| [(burst, value - 1), (burst, value + 1)];
        let m = Mean::of_bursts(&[of(4, 10), of(5, 20), of(9, 30)].concat());
        assert!((m.mean - 20.0).abs() < 1e-9);
        assert!((m.half - 4.303 * (1.5_f64 * 800.0).sqrt() / 6.0).abs() < 1e-9);
        // One burst does not predict others.
        assert_eq!(Mean::of_bursts(&of(0, 10)), Mean { mean: 10.0, half: 10.0 });
        assert_eq!(Mean::of_bursts(&[]).mean, 0.0);
    }
}
