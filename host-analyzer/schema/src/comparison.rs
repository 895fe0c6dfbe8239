//! `compare.json`: two sides of runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::thing::{Thing, ThingKind};

/// `compare.json`. `p` is a float, as the shares are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of the schema.
    pub schema: u32,
    /// This version is not released: fields may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// Whether B is faster than A.
    pub verdict: ComparisonVerdict,
    /// What runs that vary like these can tell; `null` where that is not known.
    pub power: Option<Power>,
    /// The runs did the same work.
    pub same_work: bool,
    /// What the runs differ in, what differs first.
    pub gate: Vec<GateItem>,
    /// Which tokens are compared.
    pub selection: Selection,
    /// A, then B.
    pub sides: Vec<Side>,
    /// What to keep in mind.
    pub notes: Vec<Note>,
    /// Mean decode token of both sides; `null` where nothing can be compared.
    pub change: Option<Change>,
    /// The change by class, operator and tensor; the rows of each level sum to `change`.
    pub rows: Vec<ChangeRow>,
}

/// The verdict, of B against A.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonVerdict {
    /// `faster`, `slower`, `no_difference_beyond`, `too_few_runs`, `undecided` or `different_work`.
    pub code: String,
    /// The verdict in words.
    pub sentence: String,
    /// By how much a token of B takes longer, as a share of A's time.
    pub shift_share: Option<f64>,
    /// Low end of its interval.
    pub low_share: Option<f64>,
    /// High end of its interval.
    pub high_share: Option<f64>,
    /// The end that is farther from 0, without its sign.
    pub bound_share: Option<f64>,
    /// Smallest difference that matters.
    pub practical_share: f64,
    /// Others disturbed only few runs, or means and medians changed differently.
    pub doubtful: bool,
    /// `ranks` or `spread`.
    pub method: Option<String>,
    /// By `ranks`: how likely the interval covers the shift, at least.
    pub coverage_share: Option<f64>,
    /// By `spread`: what varies within the runs.
    pub within_share: Option<f64>,
    /// By `spread`: how far sessions may be apart.
    pub between_share: Option<f64>,
    /// By `spread`: runs of one side are that far apart.
    pub between_seen: Option<bool>,
}

/// What runs that vary like these can tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Power {
    /// Part of such comparisons in which the figures below hold.
    pub power_share: f64,
    /// Standard deviation of a run's mean among the runs of its side.
    pub scatter_share: f64,
    /// Difference that is found (the interval is on one side of 0); `null` with fewer than four runs on
    /// a side.
    pub told_share: Option<f64>,
    /// Runs on each side that would find `practical_share` as often; `null` if they are more than 200.
    pub runs: Option<u64>,
    /// The same in words.
    pub sentence: String,
}

/// One thing that runs may differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateItem {
    /// The thing.
    pub thing: Thing,
    /// Which of several; empty where there is only one.
    pub which: String,
    /// Its name, for people.
    pub title: String,
    /// What a difference in it means.
    pub kind: ThingKind,
    /// `different`, `mixed` (runs of one side differ), `unknown` (not recorded by all runs) or `same`.
    pub found: String,
    /// The difference makes it other work.
    pub other_work: bool,
    /// Value in each run of A.
    pub a: Vec<ThingValue>,
    /// Value in each run of B.
    pub b: Vec<ThingValue>,
    /// Texts that A alone has.
    pub only_a: Vec<String>,
    /// Texts that B alone has.
    pub only_b: Vec<String>,
    /// The same in words.
    pub sentence: String,
}

/// A value of a thing in one run. Numbers are in the unit of the thing: Hz for `clock`, 1/1000 °C for
/// `temperature`, ns for `probe_cost`, the ceiling's own for `ceiling`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ThingValue {
    /// A number; of more than 32 texts their number.
    Number(f64),
    /// Texts.
    Texts(Vec<String>),
    /// Not recorded.
    Unknown(Option<()>),
}

/// Which tokens are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// `decode`.
    pub phase: String,
    /// Decode tokens of each run that are left out at its beginning.
    pub warm_up: u64,
    /// First position in the context that all runs have; `null` where positions are not known.
    pub first_position: Option<u32>,
    /// Last position.
    pub last_position: Option<u32>,
    /// Only tokens whose operators were captured whole are compared.
    pub traced: bool,
    /// The same in words.
    pub sentence: String,
}

/// One side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// Mean over the runs of their means, ns.
    pub mean_ns: Option<u64>,
    /// Median over the runs of their medians, ns.
    pub median_ns: Option<u64>,
    /// The mean as tokens per second.
    pub tokens_per_s: Option<f64>,
    /// How far the runs are apart, as a share of the fastest; `null` of a single one.
    pub spread_share: Option<f64>,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Tokens that are compared.
    pub tokens: u64,
    /// Their mean time, ns.
    pub mean_ns: u64,
    /// Their median time, ns.
    pub median_ns: u64,
    /// Half of the 95 % interval of the mean, by what varies within the run.
    pub half_share: Option<f64>,
    /// Part of the time for which others had its CPUs.
    pub disturbed_share: Option<f64>,
}

/// What to keep in mind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// `different_work`, `no_common_positions`, `tail`, `disturbed`, `runs`, `positions`,
    /// `not_in_turn`, `not_traced`, `rows_need_runs` or `other_contexts`.
    pub code: String,
    /// The same in words.
    pub sentence: String,
}

/// Mean decode token of both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Of A, ns.
    pub a_ns: i64,
    /// Of B, ns.
    pub b_ns: i64,
    /// B less A, ns.
    pub change_ns: i64,
}

/// Where the change is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRow {
    /// `class`, `operator` or `tensor`.
    pub level: String,
    /// Class of the budget.
    pub class: String,
    /// Operator; `null` for what no operator did.
    pub op: Option<String>,
    /// Tensor.
    pub tensor: Option<String>,
    /// Its name, for people.
    pub title: String,
    /// Of a token of A, ns.
    pub a_ns: i64,
    /// Of a token of B, ns.
    pub b_ns: i64,
    /// B less A, ns.
    pub change_ns: i64,
    /// The change as a share of a token of A.
    pub change_share: Option<f64>,
    /// p-value; `null` with fewer than four runs on a side.
    pub p: Option<f64>,
    /// The change is more than chance, all rows considered.
    pub stands: Option<bool>,
}
