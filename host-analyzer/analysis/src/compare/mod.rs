//! Comparison of two sides of runs: whether they did the same work, whether one is faster, and how
//! the change splits. Each question of the ladder is compared apart: generated text, prompts, an encoder.
//!
//! Stage: analysis. From: a [`Run`] for each recording. To: [`Comparison`]. Promises: the run is
//! the unit. Differences between the sides are found before any time is compared. Verdict and rows
//! use one estimator, the mean time per unit, so they cannot contradict each other. The rows of
//! each level sum to the change to the nanosecond. A verdict of few runs claims no more than the
//! spread between sessions allows.

mod environment;
mod gate;
mod lead;
mod power;
mod read;
mod rows;
mod run;
mod select;
mod side;
mod verdict;

use crate::ladder::{Programs, Question};
pub use crate::shared::sessions::SPREAD;
pub use crate::stats::blocking::half_width;
pub use crate::stats::rank::{Interval, Shift, distribution, least_p, p_value, shift, stand};
pub use environment::{Environment, Key, Kind, Thing, Value};
pub use gate::{Found, Item};
pub use lead::Lead;
pub use power::{MOST_RUNS, POWER, Power};
pub use rows::{FALSE_SHARE, Level, Row};
pub use run::{Call, Leaf, Run};
pub use select::{FEWEST_CALLS, Selection};
pub use side::{RunFigures, Side};
pub use verdict::{Code, DISTURBED, Method, PRACTICAL, RUNS_FOR_RANKS, Verdict};

/// Choices of the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choices {
    /// Smallest difference that matters, as a share of the time per unit.
    pub practical: f64,
    /// Spread between sessions of the same setup on this board, as a share.
    pub spread: f64,
    /// Calls to exclude at the beginning of each run.
    pub warm_up: usize,
    /// Compare times although the sides did different work.
    pub different_work: bool,
}

/// Default number of calls to exclude at the beginning of each run, because the first ones read
/// weights from disk.
pub const WARM_UP: usize = 3;

impl Default for Choices {
    fn default() -> Self {
        Self { practical: PRACTICAL, spread: SPREAD, warm_up: WARM_UP, different_work: false }
    }
}

/// Information that a reader of the verdict should know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Note {
    /// Times were compared although the sides did different work.
    DifferentWork,
    /// Runs have no calls at the same positions.
    NoCommonPositions,
    /// Mean and median time per unit changed differently, as shares: some calls take much longer
    /// than most.
    Tail {
        /// Change of the mean.
        mean: f64,
        /// Change of the median.
        median: f64,
    },
    /// Other tasks, or more threads of the engine than CPUs, had the CPUs for a large part of the
    /// calls' time.
    Disturbed {
        /// Largest share of any run.
        share: f64,
        /// With so few runs, the comparison then shows nothing.
        few: bool,
    },
    /// The mean over the runs, which the rows split, changed differently from the shift between
    /// runs, as shares: some runs take much longer than others of their side.
    Runs {
        /// Change of the mean over the runs.
        mean: f64,
        /// The verdict's shift.
        shift: f64,
    },
    /// The mean positions of the sides' calls differ, although they are in the same range.
    Positions {
        /// Mean position on each side.
        mean: [f64; 2],
    },
    /// The sides read prompts in calls of different sizes: a larger call takes less time per token.
    Sizes {
        /// Mean number of tokens per call on each side.
        mean: [f64; 2],
    },
    /// All runs of one side were made before those of the other. Anything that changed meanwhile
    /// looks like a difference.
    NotInTurn,
    /// The operators of too few calls were captured, so the change by operator is unknown.
    NotTraced,
    /// With so few runs, no single row can be significant.
    RowsNeedRuns {
        /// Least p-value possible with this number of runs.
        least_p: f64,
        /// Rows of operators that are tested together.
        rows: usize,
    },
    /// Calls of other contexts were ignored.
    OtherContexts {
        /// Their number, over all runs.
        calls: u64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Question of the compared calls.
    pub question: Question,
    /// Equal and different properties, differences first.
    pub gate: Vec<Item>,
    /// The compared calls.
    pub selection: Selection,
    /// The sides, A and B.
    pub sides: [Side; 2],
    pub verdict: Verdict,
    /// What these runs can detect; `None` where times are not compared or the variation is unknown.
    pub power: Option<Power>,
    pub notes: Vec<Note>,
    /// Split of the change; empty where times are not compared.
    pub rows: Vec<Row>,
    /// The programs of its steps.
    pub programs: Programs,
    pub choices: Choices,
}

impl Comparison {
    /// Compares two sides of recordings, each with one run for each of its questions: one comparison for each
    /// question that all of them have.
    #[must_use]
    pub fn of_questions(sides: &[Vec<Vec<Run>>; 2], choices: Choices) -> Vec<Self> {
        let of = |question: Question| {
            let runs = |recordings: &[Vec<Run>]| -> Option<Vec<Run>> {
                let run = |runs: &Vec<Run>| runs.iter().find(|run| run.question == question).cloned();
                recordings.iter().map(run).collect()
            };
            Some(Self::new(&runs(&sides[0])?, &runs(&sides[1])?, choices))
        };
        Run::QUESTIONS.into_iter().filter_map(of).collect()
    }

    /// Compares two sides of runs of one question. Each should have a run.
    #[must_use]
    pub fn new(a: &[Run], b: &[Run], choices: Choices) -> Self {
        let runs = [a, b];
        let gate = gate::gate(runs.map(|side| side.iter().map(|run| &run.environment).collect()));
        let all: Vec<&Run> = runs.into_iter().flatten().collect();
        let question = all.first().map(|run| run.question).unwrap_or_default();
        let selection = Selection::compute(&all, choices.warm_up);
        let sides = runs.map(|side| Side {
            runs: side.iter().filter_map(|run| RunFigures::new(run, &selection)).collect(),
        });
        let other_work = gate.iter().any(Item::other_work);
        let positions = selection.any() && sides.iter().zip(runs).all(|(s, runs)| s.runs.len() == runs.len());
        let refused = !positions || other_work && !choices.different_work;
        let mut programs = Programs::default();
        let (verdict, rows) = if refused {
            (Verdict::different_work(choices.practical), Vec::new())
        } else {
            let verdict = Verdict::new(&sides[0], &sides[1], choices.practical, choices.spread);
            (verdict, rows::rows(runs, &selection, &mut programs))
        };
        let power = (!refused).then(|| Power::compute(&sides, choices.practical)).flatten();
        let mut notes = Vec::new();
        if !positions {
            notes.push(Note::NoCommonPositions);
        }
        if !refused {
            notes.extend(other_work.then_some(Note::DifferentWork));
            notes.extend(tail(&sides, choices.practical));
            notes.extend(disturbed(&sides, &verdict));
            notes.extend(outliers(&sides, &verdict));
            notes.extend(apart(&sides, &selection));
            notes.extend((question != Question::Decode).then(|| sizes(&sides)).flatten());
            notes.extend(in_turn(runs));
            notes.extend((!selection.traced).then_some(Note::NotTraced));
            notes.extend(rows_need_runs(&sides, &rows));
        }
        let calls = all.iter().fold(0_u64, |sum, run| sum.saturating_add(run.other_calls));
        notes.extend((calls > 0).then_some(Note::OtherContexts { calls }));
        Self { question, gate, selection, sides, verdict, power, notes, rows, programs, choices }
    }

    /// The rows of the ladder's steps.
    pub(super) fn steps(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.level == Level::Step)
    }

    /// Time per unit of each side in integer ns, which the rows sum to; `None` where times are not
    /// compared.
    #[must_use]
    pub fn unit_ns(&self) -> Option<[i64; 2]> {
        let steps = || self.steps();
        (!self.rows.is_empty()).then(|| [0, 1].map(|side: usize| steps().map(|row| row.side_ns[side]).sum()))
    }
}

/// The verdict is about the mean. If the median differs from it, few calls dominate.
fn tail(sides: &[Side; 2], practical: f64) -> Option<Note> {
    let (mean, median) = verdict::tail(&[&sides[0], &sides[1]])?;
    ((mean - median).abs() > practical).then_some(Note::Tail { mean, median })
}

/// Ranks of many runs are valid whatever other tasks do, as long as that affects both sides alike.
fn disturbed(sides: &[Side; 2], verdict: &Verdict) -> Option<Note> {
    let share = sides.iter().filter_map(Side::most_disturbed).fold(0.0, f64::max);
    let few = !matches!(verdict.method, Some(Method::Ranks { .. }));
    (share > DISTURBED).then_some(Note::Disturbed { share, few })
}

/// An outlier run moves the mean over the runs, and hardly the shift.
fn outliers(sides: &[Side; 2], verdict: &Verdict) -> Option<Note> {
    let mean = sides[1].mean_ns()? / sides[0].mean_ns()? - 1.0;
    let shift = verdict.shift?;
    let differs = matches!(verdict.code, Code::Faster | Code::Slower);
    let against = differs && mean.is_sign_negative() != shift.is_sign_negative();
    ((mean - shift).abs() > verdict.practical / 2.0 || against).then_some(Note::Runs { mean, shift })
}

/// A sixteenth of the range: more would be a visible part of the growth with the context.
fn apart(sides: &[Side; 2], selection: &Selection) -> Option<Note> {
    let (first, last) = selection.positions?;
    let mean = |side: &Side| -> Option<f64> {
        let all: Option<Vec<f64>> = side.runs.iter().map(|r| r.mean_position).collect();
        all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    };
    let mean = [mean(&sides[0])?, mean(&sides[1])?];
    let most = f64::from(last - first) / 16.0;
    ((mean[0] - mean[1]).abs() > most).then_some(Note::Positions { mean })
}

/// A sixteenth, as for positions.
fn sizes(sides: &[Side; 2]) -> Option<Note> {
    let mean =
        |side: &Side| side.runs.iter().map(|r| r.mean_size).sum::<f64>() / side.runs.len().max(1) as f64;
    let mean = [mean(&sides[0]), mean(&sides[1])];
    ((mean[0] - mean[1]).abs() > mean[0].max(mean[1]) / 16.0).then_some(Note::Sizes { mean })
}

/// With one run per side, the order shows nothing.
fn in_turn(runs: [&[Run]; 2]) -> Option<Note> {
    let starts = runs.map(|side| side.iter().map(|run| run.start_unix_ns).collect::<Vec<_>>());
    let before = |a: usize, b: usize| starts[a].iter().max() < starts[b].iter().min();
    let several = runs.iter().any(|side| side.len() > 1);
    (several && (before(0, 1) || before(1, 0))).then_some(Note::NotInTurn)
}

fn rows_need_runs(sides: &[Side; 2], rows: &[Row]) -> Option<Note> {
    let operators = rows.iter().filter(|row| row.level == Level::Operator).count();
    let enough = sides.iter().all(|side| side.runs.len() >= RUNS_FOR_RANKS);
    let least_p = least_p(sides[0].runs.len(), sides[1].runs.len());
    let one_alone = least_p <= FALSE_SHARE / operators.max(1) as f64;
    (enough && !one_alone).then_some(Note::RowsNeedRuns { least_p, rows: operators })
}
