//! What may be said of the two sides.

use super::side::Side;
use crate::stats::rank;

/// From so many runs on each side the interval is one of ranks: three and three cannot reach 95 %.
pub const RUNS_FOR_RANKS: usize = 4;

/// How far two sessions of the same thing may lie apart where nothing better is known of the board. A variable of the environment alone
/// made 7.8 % (`docs/compare.md`).
pub const SPREAD: f64 = 0.078;

/// Difference below which nobody cares, as a share of a token's time.
pub const PRACTICAL: f64 = 0.02;

/// Of a token's time, what others may have had the CPUs for where so few runs are to tell anything: it differs from session to session,
/// and what it delays is many times as much.
pub const DISTURBED: f64 = 0.05;

/// Stable codes of what may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// B takes less time for a token.
    Faster,
    /// B takes more time for a token.
    Slower,
    /// If there is a difference, it is not larger than the verdict's bound.
    NoDifferenceBeyond,
    /// Sessions of the same thing may be as far apart as these.
    TooFewRuns,
    /// The interval includes nothing as well as what matters.
    Undecided,
    /// The runs did not do the same.
    DifferentWork,
}

impl Code {
    /// The code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifferenceBeyond => "no_difference_beyond",
            Self::TooFewRuns => "too_few_runs",
            Self::Undecided => "undecided",
            Self::DifferentWork => "different_work",
        }
    }
}

/// Where an interval comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Of the ranks of the runs' means, exactly.
    Ranks {
        /// How likely it covers the shift, at least.
        coverage: f64,
    },
    /// What varies within the runs, and what sessions of the same thing may lie apart.
    Spread {
        /// Of that, within the runs, as a share; by blocking.
        within: f64,
        /// Between sessions, as a share.
        between: f64,
        /// That is more than was stated, because runs of one side lie so far apart.
        seen: bool,
    },
}

/// The verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// What may be said.
    pub code: Code,
    /// By how much a token of B takes longer, as a share of A's time; `None` for different work.
    pub shift: Option<f64>,
    /// Ends of its interval; `None` when there is none.
    pub interval: Option<(f64, f64)>,
    /// The interval is not to be relied on: of few runs, which others disturbed, or whose means and medians changed differently.
    pub doubtful: bool,
    /// Where the interval comes from.
    pub method: Option<Method>,
    /// Difference below which nobody cares, as a share.
    pub practical: f64,
}

impl Verdict {
    /// Of different work.
    #[must_use]
    pub const fn different_work(practical: f64) -> Self {
        Self {
            code: Code::DifferentWork,
            shift: None,
            interval: None,
            doubtful: false,
            method: None,
            practical,
        }
    }

    /// Of two sides. `spread`: how far sessions of the same thing may lie apart on this board, as a share.
    #[must_use]
    pub fn new(a: &Side, b: &Side, practical: f64, spread: f64) -> Self {
        let (logs_a, logs_b) = (a.logarithms(), b.logarithms());
        let shift = rank::shift(&logs_a, &logs_b);
        let estimate = shift.map(|s| s.estimate);
        let none = Self {
            code: Code::TooFewRuns,
            shift: estimate.map(f64::exp_m1),
            interval: None,
            doubtful: false,
            method: None,
            practical,
        };
        if logs_a.len().min(logs_b.len()) >= RUNS_FOR_RANKS
            && let Some(interval) = shift.and_then(|s| s.interval)
        {
            let ends = (interval.low.exp_m1(), interval.high.exp_m1());
            let method = Method::Ranks { coverage: interval.coverage };
            return Self {
                code: by_ranks(ends, practical),
                interval: Some(ends),
                method: Some(method),
                ..none
            };
        }
        let (Some(estimate), Some(of_a), Some(of_b)) = (estimate, a.half_share(), b.half_share()) else {
            return none;
        };
        let seen = a.spread().into_iter().chain(b.spread()).fold(0.0, f64::max);
        let (within, between) = (of_a.hypot(of_b), seen.max(spread));
        // A mean that may be off by a share may be too large by it, which is further in logarithms than too small.
        let half = between.ln_1p() - (1.0 - within.min(1.0)).ln();
        let ends = half.is_finite().then(|| ((estimate - half).exp_m1(), (estimate + half).exp_m1()));
        let sides = [a, b];
        let doubtful = tail(&sides).is_some_and(|(mean, median)| (mean - median).abs() > practical)
            || sides.iter().any(|side| side.most_disturbed().is_some_and(|share| share > DISTURBED));
        Self {
            code: ends.filter(|_| !doubtful).map_or(Code::TooFewRuns, |ends| by_spread(ends, practical)),
            interval: ends,
            doubtful,
            method: Some(Method::Spread { within, between, seen: seen > spread }),
            ..none
        }
    }

    /// If there is a difference, it is at most so large, as a share; `None` without an interval.
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        self.interval.map(|(low, high)| low.abs().max(high.abs()))
    }
}

fn by_ranks((low, high): (f64, f64), practical: f64) -> Code {
    if low >= -practical && high <= practical {
        Code::NoDifferenceBeyond
    } else if low > 0.0 {
        Code::Slower
    } else if high < 0.0 {
        Code::Faster
    } else {
        Code::Undecided
    }
}

/// Change of the means and of the medians, as shares; `None` where a side has no runs.
pub(super) fn tail(sides: &[&Side; 2]) -> Option<(f64, f64)> {
    let change = |of: fn(&Side) -> Option<f64>| Some(of(sides[1])? / of(sides[0])? - 1.0);
    Some((change(Side::mean_ns)?, change(Side::median_ns)?))
}

/// The interval is no statistical one, so a difference has to exceed it by what matters.
fn by_spread((low, high): (f64, f64), practical: f64) -> Code {
    if low >= -practical && high <= practical {
        Code::NoDifferenceBeyond
    } else if low > practical {
        Code::Slower
    } else if high < -practical {
        Code::Faster
    } else {
        Code::TooFewRuns
    }
}
