//! Figures of the runs of one side. The only estimator is the mean time per token: the verdict is
//! about it, and its parts sum to it.

use super::run::Run;
use super::select::Selection;
use crate::ladder::StepKind;
use crate::stats::blocking::half_width;
use crate::stats::percentile::percentile;

/// Figures of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFigures {
    /// Compared tokens.
    pub tokens: usize,
    /// Their mean time, ns.
    pub mean_ns: f64,
    /// Median of their times, ns; for information.
    pub median_ns: u64,
    /// Half width of the mean's 95 % interval, by blocking, as a share of the mean; `None` for too
    /// few tokens.
    pub half_share: Option<f64>,
    /// Share of their time that is the delay of causes which take CPUs. `None` without the scheduler
    /// level.
    pub disturbed_share: Option<f64>,
    /// Mean position; `None` when unknown.
    pub mean_position: Option<f64>,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Side {
    /// Its runs, in the given order.
    pub runs: Vec<RunFigures>,
}

impl RunFigures {
    /// The figures of a run; `None` without tokens.
    #[must_use]
    pub fn new(run: &Run, selection: &Selection) -> Option<Self> {
        let mut times: Vec<u64> = selection.tokens(run).map(|t| t.time_ns).collect();
        let n = times.len() as f64;
        let series: Vec<f64> = times.iter().map(|t| *t as f64).collect();
        let mean_ns = series.iter().sum::<f64>() / n;
        let positions: Option<Vec<f64>> = selection.tokens(run).map(|t| t.position.map(f64::from)).collect();
        Some(Self {
            tokens: times.len(),
            mean_ns,
            disturbed_share: disturbed(run, selection),
            half_share: half_width(&series).filter(|_| mean_ns > 0.0).map(|half| half / mean_ns),
            mean_position: positions.map(|p| p.iter().sum::<f64>() / n),
            median_ns: percentile(&mut times, 50)?,
        })
    }
}

impl Side {
    /// Mean over the runs of their means, ns; `None` without runs.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        mean(self.runs.iter().map(|r| r.mean_ns))
    }

    /// Mean over the runs of their medians, ns; `None` without runs.
    #[must_use]
    pub fn median_ns(&self) -> Option<f64> {
        mean(self.runs.iter().map(|r| r.median_ns as f64))
    }

    /// Disturbed share of the most disturbed run; `None` where unknown.
    pub(super) fn most_disturbed(&self) -> Option<f64> {
        self.runs.iter().filter_map(|r| r.disturbed_share).reduce(f64::max)
    }

    /// Logarithms of the means, so that their differences are ratios.
    pub(super) fn logarithms(&self) -> Vec<f64> {
        self.runs.iter().map(|r| r.mean_ns.max(1.0).ln()).collect()
    }

    /// Half width of the 95 % interval of the side's mean from the variation within its runs, as a
    /// share; `None` where a run is too short.
    pub(super) fn half_share(&self) -> Option<f64> {
        let squares: Option<f64> = self.runs.iter().map(|r| r.half_share.map(|h| h * h)).sum();
        squares.filter(|_| !self.runs.is_empty()).map(|s| s.sqrt() / self.runs.len() as f64)
    }

    /// Distance of its slowest from its fastest run, as a share of the fastest; `None` for a single
    /// run.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        let logs = self.logarithms();
        let ends = logs
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), l| (low.min(*l), high.max(*l)));
        (logs.len() > 1).then(|| (ends.1 - ends.0).exp_m1())
    }
}

fn disturbed(run: &Run, selection: &Selection) -> Option<f64> {
    if !run.scheduler {
        return None;
    }
    let takes_cpus = |step: StepKind| matches!(step, StepKind::Caused(cause) if cause.takes_cpus());
    let others = |leaf: u32| run.leaves.get(leaf as usize).is_some_and(|l| takes_cpus(l.step));
    let (mut by_others, mut all) = (0_i64, 0_u64);
    for token in selection.tokens(run) {
        all = all.saturating_add(token.time_ns);
        by_others += token.parts.iter().filter(|(leaf, _)| others(*leaf)).map(|(_, ns)| ns).sum::<i64>();
    }
    (all > 0).then(|| by_others as f64 / all as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), v| (n + 1, sum + v));
    (n > 0).then(|| sum / f64::from(n))
}
