//! Recommended number of threads and CPUs. From measured settings: the fastest one, and the
//! smallest one that is as fast. From one recording: estimates for other settings ([`Prediction`]).
//!
//! Stage: analysis. From: runs of the same work with other numbers of threads or on other CPUs. To:
//! [`Tuning`]. Promises: every statement about two settings is that of a comparison of their runs
//! ([`Comparison`]), so its limits for few runs apply here too. A setting is recommended only if
//! its additional cost is known to be below the smallest difference that matters.

mod makeup;
mod prediction;
mod speeds;

pub use makeup::{Lacking, Makeup, Share};
pub use prediction::{EstimatedSetting, Prediction, UNMODELLED};

use super::compare::{Choices, Code, Comparison, Run, RunFigures, Selection, Side};
use crate::results::gauge::{self, Gauge};
use crate::shared::phase::{Phase, Phases};
use crate::stats::percentile::percentile;
use profinfer_trace::model::{GaugeKind, Model};

/// Smallest difference from the fastest setting that matters, as a share of the time per token. It
/// is the price of leaving a core free.
pub const PRACTICAL: f64 = 0.03;

/// One run of a setting.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    /// Its decode tokens and environment.
    pub run: Run,
    /// Time per prompt token, ns; `None` without prompts.
    pub prompt_ns: Option<f64>,
    /// Mean of each clock while tokens were generated, Hz, by name.
    pub clocks: Vec<(String, f64)>,
    /// Mean of each power sensor while tokens were generated, W, by name.
    pub watts: Vec<(String, f64)>,
}

/// A measured setting.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    pub name: String,
    /// Threads that the engine was told to use; `None` where unknown.
    pub threads: Option<u32>,
    /// CPUs that it was bound to, as a list like `4-7`; `None` where it was not bound.
    pub cpus: Option<String>,
    pub trials: Vec<Trial>,
}

/// A setting compared with the fastest one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// It is the fastest.
    Fastest,
    /// It is not slower by a difference that matters.
    AsFast,
    /// It is slower by a difference that matters.
    Slower,
    /// The runs do not decide.
    Undecided,
    /// It did different work, so its times are not comparable.
    OtherWork,
}

impl Standing {
    /// Stable name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Fastest => "fastest",
            Self::AsFast => "as_fast",
            Self::Slower => "slower",
            Self::Undecided => "undecided",
            Self::OtherWork => "other_work",
        }
    }
}

/// Result of a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Its figures run by run.
    pub side: Side,
    /// Median over the runs of their mean time per token, ns.
    pub token_ns: u64,
    /// Compared with the fastest.
    pub standing: Standing,
    /// How much longer a token takes than with the fastest, as a share; `None` for the fastest
    /// itself and where times are not compared.
    pub longer: Option<f64>,
    /// Ends of the interval of `longer`.
    pub interval: Option<(f64, f64)>,
    /// Median over the runs of the time per prompt token, ns.
    pub prompt_ns: Option<u64>,
    /// Mean over the runs of each clock, Hz.
    pub clocks: Vec<(String, f64)>,
    /// Mean over the runs of each power sensor, W.
    pub watts: Vec<(String, f64)>,
    /// Energy per token, J; only with exactly one power sensor, because several may measure parts
    /// of each other.
    pub joules: Option<f64>,
}

/// The settings, in the given order.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// Result of each; `None` without a comparable token.
    pub tried: Vec<Option<Tried>>,
    /// The fastest.
    pub fastest: Option<usize>,
    /// The recommended one: the fewest threads among those that are as fast; with equal threads,
    /// the fastest.
    pub choice: Option<usize>,
    /// Settings with fewer threads than the recommended one for which it is unknown whether they
    /// are as fast.
    pub open: Vec<usize>,
    pub choices: Choices,
}

impl Trial {
    /// Extracts the trial of a recording.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let phases = Phases::compute(model);
        let (mut tokens, mut ns) = (0_u64, 0_u64);
        for i in 0..model.llama_calls.len() {
            if phases.llama_calls[i] == Phase::Prefill && model.llama_calls.status[i] == 0 {
                tokens += u64::from(model.llama_calls.n_tokens[i]);
                ns = ns.saturating_add(model.llama_calls.duration_ns[i]);
            }
        }
        let gauges = gauge::gauges(model, &phases);
        Self {
            run: Run::compute(model),
            prompt_ns: (tokens > 0).then(|| ns as f64 / tokens as f64),
            clocks: means(&gauges, GaugeKind::Frequency, 1.0),
            watts: means(&gauges, GaugeKind::Power, 1e6),
        }
    }
}

impl Trial {
    /// Mean time of a decode token after the first `warm_up`, ns.
    #[must_use]
    pub fn mean_ns(&self, warm_up: usize) -> Option<f64> {
        let calls = || self.run.calls.iter().skip(warm_up);
        let tokens: u64 = calls().map(|c| c.units).sum();
        (tokens > 0).then(|| calls().map(|c| c.time_ns as f64).sum::<f64>() / tokens as f64)
    }
}

/// Means while tokens were generated, in multiples of `per` of the gauge's unit.
fn means(gauges: &[Gauge], kind: GaugeKind, per: f64) -> Vec<(String, f64)> {
    let of_kind = gauges.iter().filter(|g| g.kind == kind.name());
    of_kind.filter_map(|g| Some((g.name.clone(), g.decode?.mean / per))).collect()
}

impl Tuning {
    /// The recommended setting.
    #[must_use]
    pub fn compute(settings: &[Setting], choices: Choices) -> Self {
        let runs: Vec<Vec<Run>> =
            settings.iter().map(|s| s.trials.iter().map(|t| t.run.clone()).collect()).collect();
        let all: Vec<&Run> = runs.iter().flatten().collect();
        let selection = Selection::compute(&all, choices.warm_up);
        let mut tried: Vec<Option<Tried>> =
            settings.iter().zip(&runs).map(|(s, runs)| figures(s, runs, &selection)).collect();
        let fastest =
            (0..tried.len()).filter_map(|i| Some((tried[i].as_ref()?.token_ns, i))).min().map(|(_, i)| i);
        if let Some(fastest) = fastest {
            for (i, row) in tried.iter_mut().enumerate() {
                let Some(row) = row else { continue };
                if i == fastest {
                    row.standing = Standing::Fastest;
                } else {
                    against(row, &Comparison::new(&runs[fastest], &runs[i], choices));
                }
            }
        }
        let standing = |i: usize| tried[i].as_ref().map(|t| t.standing);
        let least = |i: &usize| {
            let threads = settings[*i].threads.unwrap_or(u32::MAX);
            (threads, tried[*i].as_ref().map_or(u64::MAX, |t| t.token_ns))
        };
        let good = |i: &usize| matches!(standing(*i), Some(Standing::Fastest | Standing::AsFast));
        let choice = (0..settings.len()).filter(good).min_by_key(least);
        let open = |i: &usize| {
            standing(*i) == Some(Standing::Undecided) && choice.is_some_and(|c| least(i).0 < least(&c).0)
        };
        let open = (0..settings.len()).filter(open).collect();
        Self { tried, fastest, choice, open, choices }
    }
}

fn figures(setting: &Setting, runs: &[Run], selection: &Selection) -> Option<Tried> {
    let figures: Vec<RunFigures> = runs.iter().filter_map(|run| RunFigures::new(run, selection)).collect();
    let mut means: Vec<u64> = figures.iter().map(|r| r.mean_ns.round() as u64).collect();
    let token_ns = percentile(&mut means, 50)?;
    let mut prompts: Vec<u64> =
        setting.trials.iter().filter_map(|t| t.prompt_ns).map(|ns| ns.round() as u64).collect();
    let watts = over_runs(setting.trials.iter().map(|t| &t.watts));
    let joules = match &watts[..] {
        [(_, watts)] => Some(watts * token_ns as f64 / 1e9),
        _ => None,
    };
    Some(Tried {
        side: Side { runs: figures },
        token_ns,
        standing: Standing::Undecided,
        longer: None,
        interval: None,
        prompt_ns: percentile(&mut prompts, 50),
        clocks: over_runs(setting.trials.iter().map(|t| &t.clocks)),
        watts,
        joules,
    })
}

/// Means over the runs, for sensors that all runs have.
fn over_runs<'a>(runs: impl Iterator<Item = &'a Vec<(String, f64)>> + Clone) -> Vec<(String, f64)> {
    let n = runs.clone().count();
    let first = runs.clone().next().into_iter().flatten();
    first
        .filter_map(|(name, _)| {
            let of = |run: &&'a Vec<(String, f64)>| run.iter().find(|(other, _)| other == name).map(|r| r.1);
            let values: Vec<f64> = runs.clone().filter_map(|run| of(&run)).collect();
            (values.len() == n).then(|| (name.clone(), values.iter().sum::<f64>() / n as f64))
        })
        .collect()
}

fn against(row: &mut Tried, comparison: &Comparison) {
    let verdict = &comparison.verdict;
    if verdict.code == Code::DifferentWork {
        row.standing = Standing::OtherWork;
        return;
    }
    (row.longer, row.interval) = (verdict.shift, verdict.interval);
    let most = comparison.choices.practical;
    row.standing = match verdict.interval {
        Some(_) if verdict.doubtful => Standing::Undecided,
        Some((_, high)) if high <= most => Standing::AsFast,
        Some((low, _)) if low > most => Standing::Slower,
        _ => Standing::Undecided,
    };
}
