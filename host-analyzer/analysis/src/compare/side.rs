//! Figures of the runs of one side. The only estimator is the mean time per unit: a token that came out, a
//! token of a prompt, or a call of an encoder. The verdict is about it, and its parts sum to it.

use std::collections::BTreeMap;

use super::run::{Call, Run};
use super::select::Selection;
use crate::ladder::{Question, StepKind};
use crate::stats::blocking::half_width;
use crate::stats::percentile::percentile;

/// Figures of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFigures {
    /// Compared calls.
    pub calls: usize,
    /// Their units.
    pub units: u64,
    /// Mean time of a unit, ns.
    pub mean_ns: f64,
    /// Median of the calls' times per unit, ns; for information.
    pub median_ns: u64,
    /// Half width of the mean's 95 % interval, by blocking, as a share of the mean; `None` for too
    /// few calls.
    pub half_share: Option<f64>,
    /// Share of their time that is the delay of causes which take CPUs. `None` without the scheduler
    /// level.
    pub disturbed_share: Option<f64>,
    /// Mean position; `None` when unknown.
    pub mean_position: Option<f64>,
    /// Mean number of tokens in the calls' batches.
    pub mean_size: f64,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Side {
    /// Its runs, in the given order.
    pub runs: Vec<RunFigures>,
}

impl RunFigures {
    /// The figures of a run; `None` without calls.
    #[must_use]
    pub fn new(run: &Run, selection: &Selection) -> Option<Self> {
        let calls: Vec<&Call> = selection.calls(run).collect();
        let n = calls.len() as f64;
        let mut times: Vec<u64> = calls.iter().map(|c| c.time_ns / c.units.max(1)).collect();
        let units: u64 = calls.iter().map(|c| c.units).sum();
        let mean_ns = calls.iter().map(|c| c.time_ns as f64).sum::<f64>() / units as f64;
        // Calls have different numbers of units: what each takes more or less than its units take in the mean.
        let mean_units = units as f64 / n;
        let of_unit = |c: &&Call| (c.time_ns as f64 - mean_ns * (c.units as f64 - mean_units)) / mean_units;
        let series: Vec<f64> = match run.question {
            Question::Decode => calls.iter().map(of_unit).collect(),
            _ => unexpected(&calls).map(|ns| mean_ns + ns / mean_units).collect(),
        };
        let positions: Option<Vec<f64>> = calls.iter().map(|c| c.position.map(f64::from)).collect();
        Some(Self {
            calls: calls.len(),
            units,
            mean_ns,
            mean_size: calls.iter().map(|c| f64::from(c.n_tokens)).sum::<f64>() / n,
            disturbed_share: disturbed(run, selection),
            half_share: half_width(&series).filter(|_| mean_ns > 0.0).map(|half| half / mean_ns),
            mean_position: positions.map(|p| p.iter().sum::<f64>() / n),
            median_ns: percentile(&mut times, 50)?,
        })
    }
}

/// How much longer each call takes than is expected, ns. Calls of one size at one position are alike: texts that are
/// cut into equal parts repeat the times of their parts. A call without its like is expected to take what its units
/// take in the mean.
fn unexpected(calls: &[&Call]) -> impl Iterator<Item = f64> {
    let key = |c: &Call| (c.position, c.n_tokens);
    let mut alike: BTreeMap<(Option<u32>, u32), (f64, f64)> = BTreeMap::new();
    let (mut all_ns, mut units) = (0.0, 0.0);
    for call in calls {
        let (ns, n) = alike.entry(key(call)).or_default();
        (*ns, *n) = (*ns + call.time_ns as f64, *n + 1.0);
        (all_ns, units) = (all_ns + call.time_ns as f64, units + call.units as f64);
    }
    calls.iter().map(move |call| {
        let (ns, n) = alike.get(&key(call)).copied().unwrap_or_default();
        if n < 2.0 {
            return call.time_ns as f64 - all_ns / units * call.units as f64;
        }
        // Their mean is estimated from the calls themselves.
        (call.time_ns as f64 - ns / n) * (n / (n - 1.0)).sqrt()
    })
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
    for call in selection.calls(run) {
        all = all.saturating_add(call.time_ns);
        by_others += call.parts.iter().filter(|(leaf, _)| others(*leaf)).map(|(_, ns)| ns).sum::<i64>();
    }
    (all > 0).then(|| by_others as f64 / all as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), v| (n + 1, sum + v));
    (n > 0).then(|| sum / f64::from(n))
}
