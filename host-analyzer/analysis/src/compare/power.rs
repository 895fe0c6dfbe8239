//! What runs that scatter like these can tell: a verdict that finds nothing is worth what it would have found.
//!
//! A difference is told when the interval of ranks excludes none. Of normal logarithms of the runs' means, with the scatter that was seen
//! between runs of a side, the least difference that is told is a random one. The quantile of it at [`POWER`] is taken from [`DRAWS`] drawn
//! samples, always the same ones, so that a comparison says the same twice. For how many runs are needed, the test of more than ten is taken as
//! one of normal means with the relative efficiency 3/π of ranks (Hodges and Lehmann, Ann. Math. Statist. 27, 1956).

use super::side::Side;
use super::verdict::RUNS_FOR_RANKS;
use crate::stats::rank;

/// How often a difference of the size that is stated is told.
pub const POWER: f64 = 0.8;

/// More runs than this are not proposed: the board should be made quieter instead.
pub const MOST_RUNS: usize = 200;

/// Pairs of samples that are drawn.
const DRAWS: usize = 1000;

/// Up to so many runs on each side ranks are coarse.
const FEW_RUNS: usize = 10;

/// Normal quantiles of 97.5 % and of [`POWER`] together.
const QUANTILES: f64 = 1.960 + 0.842;

/// What these runs can tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// Standard deviation of a run's mean time of a token, among runs of the same side, as a share.
    pub scatter: f64,
    /// Longer time of a token, as a share, that so many runs tell in [`POWER`] of the cases; `None` with fewer than four on a side.
    pub told: Option<f64>,
    /// Runs on each side that would tell the least difference that matters as often; `None` if they are more than [`MOST_RUNS`].
    pub runs: Option<usize>,
}

impl Power {
    /// Of two sides; `None` where no side has two runs, or where all runs of each side took the same time.
    #[must_use]
    pub fn compute(sides: &[Side; 2], practical: f64) -> Option<Self> {
        let logs = sides.each_ref().map(Side::logarithms);
        let scatter = scatter(&logs)?;
        let [m, n] = logs.each_ref().map(Vec::len);
        let told = (m.min(n) >= RUNS_FOR_RANKS).then(|| least_told(m, n)).flatten();
        Some(Self {
            scatter: scatter.exp_m1(),
            told: told.map(|times| (times * scatter).exp_m1()),
            runs: runs_for(practical.ln_1p() / scatter),
        })
    }
}

/// Standard deviation within the samples, pooled.
fn scatter(samples: &[Vec<f64>; 2]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0_usize);
    for sample in samples.iter().filter(|s| s.len() > 1) {
        let mean = sample.iter().sum::<f64>() / sample.len() as f64;
        squares += sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        freedom += sample.len() - 1;
    }
    (freedom > 0 && squares > 0.0).then(|| (squares / freedom as f64).sqrt())
}

/// Shift that is told in [`POWER`] of the cases, in standard deviations. A shift moves both ends of the interval by itself, so the least
/// one that is told of a sample is what the lower end lies below nothing.
fn least_told(m: usize, n: usize) -> Option<f64> {
    let mut random = Normal(0x9E37_79B9_7F4A_7C15);
    let mut draw = |n: usize| (0..n).map(|_| random.next()).collect::<Vec<f64>>();
    let mut least: Vec<f64> = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        least.push(-rank::shift(&draw(m), &draw(n))?.interval?.low);
    }
    least.sort_by(f64::total_cmp);
    least.get((POWER * DRAWS as f64) as usize).copied()
}

/// Runs on each side for a shift of so many standard deviations.
fn runs_for(shift: f64) -> Option<usize> {
    let runs = 2.0 * (QUANTILES / shift).powi(2) * std::f64::consts::FRAC_PI_3;
    let runs = (runs <= MOST_RUNS as f64).then(|| (runs.ceil() as usize).max(RUNS_FOR_RANKS))?;
    // Few ranks have few levels of confidence: 97.1 % is the only one of four and four, so that they tell less than normal means would.
    let enough = |n: &usize| *n > FEW_RUNS || least_told(*n, *n).is_some_and(|least| least <= shift);
    (runs..).find(enough)
}

/// Normal values: the sum of twelve uniform ones of a xorshift generator (Marsaglia, J. Stat. Softw. 8, 2003), which is close enough for a
/// quantile in the middle of the distribution.
struct Normal(u64);

impl Normal {
    fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}
