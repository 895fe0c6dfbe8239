//! The verdict on the two sides.

use super::side::Side;
use crate::stats::rank;

/// From this many runs on each side on, the interval is a rank interval: three and three runs
/// cannot reach 95 %.
pub const RUNS_FOR_RANKS: usize = 4;

/// Smallest difference that matters, as a share of the time per unit.
pub const PRACTICAL: f64 = 0.02;

/// With few runs: largest share of the calls' time during which other tasks may have had the CPUs.
/// This share differs from session to session, and it delays many times as much.
pub const DISTURBED: f64 = 0.05;

/// Stable codes of the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// B takes less time per unit.
    Faster,
    /// B takes more time per unit.
    Slower,
    /// A difference, if any, is not larger than the verdict's bound.
    NoDifferenceBeyond,
    /// Sessions of the same setup may differ as much as these.
    TooFewRuns,
    /// The interval includes both zero and a difference that matters.
    Undecided,
    /// The runs did different work.
    DifferentWork,
}

impl Code {
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

/// Source of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Exact ranks of the runs' means.
    Ranks {
        /// Least probability that it covers the shift.
        coverage: f64,
    },
    /// The variation within the runs, and the spread between sessions of the same setup.
    Spread {
        /// The part within the runs, as a share; by blocking.
        within: f64,
        /// Between sessions, as a share.
        between: f64,
        /// The spread is larger than configured, because runs of one side differ that much.
        seen: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    pub code: Code,
    /// How much longer a unit of B takes, as a share of A's time; `None` for different work.
    pub shift: Option<f64>,
    /// Ends of its interval; `None` when there is none.
    pub interval: Option<(f64, f64)>,
    /// The interval is unreliable: it is from few runs that were disturbed, or whose means and
    /// medians changed differently.
    pub doubtful: bool,
    /// Source of the interval.
    pub method: Option<Method>,
    /// Smallest difference that matters, as a share.
    pub practical: f64,
}

impl Verdict {
    /// The verdict for different work.
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

    /// The verdict on two sides. `spread`: spread between sessions of the same setup on this board,
    /// as a share.
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
        // A mean that may be wrong by a share may be too large by that share. In logarithms this is
        // further than too small.
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

    /// Largest possible difference, as a share; `None` without an interval.
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

/// The interval is not a statistical one, so a difference must exceed it by the smallest difference
/// that matters.
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
