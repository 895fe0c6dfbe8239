//! Statistical power: the difference that runs with this variation can detect. A verdict without a
//! finding is only as good as the difference that it would have found.
//!
//! A difference is detected when the rank interval excludes 0. For normally distributed logarithms
//! of the runs' means, with the observed variation between runs of a side, the smallest detected
//! difference is a random variable. Its quantile at [`POWER`] is taken from [`DRAWS`] random
//! samples. These are always the same samples, so that a repeated comparison gives the same result.
//!
//! For the number of required runs above ten, the rank test is treated as a test of normal means
//! with the relative efficiency 3/π of ranks (Hodges and Lehmann, Ann. Math. Statist. 27, 1956).

use super::side::Side;
use super::verdict::RUNS_FOR_RANKS;
use crate::stats::rank;

/// Probability with which a difference of the reported size is detected.
pub const POWER: f64 = 0.8;

/// Largest proposed number of runs. Beyond it, make the board quieter instead.
pub const MOST_RUNS: usize = 200;

/// Number of random pairs of samples.
const DRAWS: usize = 1000;

/// Up to this many runs on each side, ranks are coarse.
const FEW_RUNS: usize = 10;

/// Normal quantiles of 97.5 % and of [`POWER`] together.
const QUANTILES: f64 = 1.960 + 0.842;

/// What these runs can detect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// Standard deviation of a run's mean time per unit, among runs of the same side, as a share.
    pub scatter: f64,
    /// Increase of the time per unit, as a share, that this many runs detect with the probability
    /// [`POWER`]. `None` with fewer than four runs on a side.
    pub told: Option<f64>,
    /// Runs per side that would detect the smallest difference that matters with the same
    /// probability; `None` if they are more than [`MOST_RUNS`].
    pub runs: Option<usize>,
}

impl Power {
    /// `None` where no side has two runs, or where all runs of each side took the same time.
    #[must_use]
    pub fn compute(sides: &[Side; 2], practical: f64) -> Option<Self> {
        let logs = sides.each_ref().map(Side::logarithms);
        let scatter = scatter(&logs)?;
        let [m, n] = logs.each_ref().map(Vec::len);
        let told = (m.min(n) >= RUNS_FOR_RANKS).then(|| least_detected(m, n)).flatten();
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

/// Shift that is detected with the probability [`POWER`], in standard deviations. A shift moves
/// both ends of the interval equally. So the smallest detected shift of a sample is the distance of
/// the lower end below 0.
fn least_detected(m: usize, n: usize) -> Option<f64> {
    let mut random = Normal(0x9E37_79B9_7F4A_7C15);
    let mut draw = |n: usize| (0..n).map(|_| random.next()).collect::<Vec<f64>>();
    let mut least: Vec<f64> = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        least.push(-rank::shift(&draw(m), &draw(n))?.interval?.low);
    }
    least.sort_by(f64::total_cmp);
    least.get((POWER * DRAWS as f64) as usize).copied()
}

/// Runs on each side that detect a shift of this many standard deviations.
fn runs_for(shift: f64) -> Option<usize> {
    let runs = 2.0 * (QUANTILES / shift).powi(2) * std::f64::consts::FRAC_PI_3;
    let runs = (runs <= MOST_RUNS as f64).then(|| (runs.ceil() as usize).max(RUNS_FOR_RANKS))?;
    // Few ranks have few confidence levels: for four and four it is only 97.1 %, so they detect
    // less than normal means would.
    let enough = |n: &usize| *n > FEW_RUNS || least_detected(*n, *n).is_some_and(|least| least <= shift);
    (runs..).find(enough)
}

/// Normal values: the sum of twelve uniform values of a xorshift generator (Marsaglia, J. Stat.
/// Softw. 8, 2003). This is accurate enough for a quantile in the middle of the distribution.
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
