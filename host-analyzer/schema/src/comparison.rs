//! `compare.json`: comparison of two sides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ladder::{Question, StepKind};
use super::module::Module;
use super::thing::{Thing, ThingKind};

/// `compare.json`: comparison of two sides, each with one or more runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Schema version.
    pub schema: u32,
    /// True until this version is released. Fields of a draft may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// All runs did the same work.
    pub same_work: bool,
    /// Properties that may differ between the runs; differences first.
    pub gate: Vec<GateItem>,
    /// The question that the runs are about, or the one that was requested.
    #[serde(flatten)]
    pub compared: QuestionComparison,
    /// The same for other questions that all runs have: text generation, prompts, an encoder.
    #[serde(default)]
    pub others: Vec<QuestionComparison>,
}

/// Comparison of the calls of one question. Times are per unit: per token that came out, per prompt token, per call
/// of an encoder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionComparison {
    /// The question.
    #[serde(default)]
    pub question: Question,
    /// Display name of the question.
    #[serde(default)]
    pub title: String,
    /// Display name of the unit.
    #[serde(default)]
    pub unit: String,
    /// Whether B is faster than A.
    pub verdict: ComparisonVerdict,
    /// Smallest difference that these runs can detect; `null` if unknown.
    pub power: Option<Power>,
    /// Compared calls.
    pub selection: Selection,
    /// A, then B.
    pub sides: Vec<Side>,
    /// Caveats.
    pub notes: Vec<Note>,
    /// Mean time per unit of both sides; `null` if nothing can be compared.
    pub change: Option<Change>,
    /// The change by step of the ladder, module, operator and tensor; the rows of each level sum to `change`.
    pub rows: Vec<ChangeRow>,
}

/// Verdict on B relative to A.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonVerdict {
    /// `faster`, `slower`, `no_difference_beyond`, `too_few_runs`, `undecided` or `different_work`.
    pub code: String,
    /// Description.
    pub sentence: String,
    /// How much longer a unit of B takes, as a share of A's time.
    pub shift_share: Option<f64>,
    /// Low end of its interval.
    pub low_share: Option<f64>,
    /// High end of its interval.
    pub high_share: Option<f64>,
    /// The larger absolute value of both ends.
    pub bound_share: Option<f64>,
    /// Smallest difference that matters.
    pub practical_share: f64,
    /// Other tasks disturbed a few runs, or means and medians changed differently.
    pub doubtful: bool,
    /// `ranks` or `spread`; `null` without a comparison.
    pub method: Option<String>,
    /// `ranks`: minimum probability that the interval covers the true shift.
    pub coverage_share: Option<f64>,
    /// `spread`: variation within the runs.
    pub within_share: Option<f64>,
    /// `spread`: assumed variation between sessions.
    pub between_share: Option<f64>,
    /// `spread`: runs of one side differ by that much.
    pub between_seen: Option<bool>,
}

/// Statistical power: which differences can be detected with this run-to-run variation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Power {
    /// Probability of detection that `detectable_share` and `runs` refer to, 0 to 1.
    pub power_share: f64,
    /// Run-to-run variation: standard deviation of the run means within a side, as a share.
    pub variation_share: f64,
    /// Difference that is detected (the interval is on one side of 0) with probability
    /// `power_share`; `null` with fewer than four runs on a side.
    pub detectable_share: Option<f64>,
    /// Runs per side that would detect `practical_share` with that probability; `null` if more than
    /// 200.
    pub runs: Option<u64>,
    /// Description.
    pub sentence: String,
}

/// A property that runs may differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateItem {
    /// Property.
    pub thing: Thing,
    /// Instance of the property, for example the name of a sensor; empty if there is only one.
    pub which: String,
    /// Display name.
    pub title: String,
    /// Meaning of a difference.
    pub kind: ThingKind,
    /// `different`, `mixed` (runs of one side differ), `unknown` (not recorded in all runs) or
    /// `same`.
    pub found: String,
    /// The difference means that the runs did different work.
    pub other_work: bool,
    /// Value in each run of A.
    pub a: Vec<ThingValue>,
    /// Value in each run of B.
    pub b: Vec<ThingValue>,
    /// Texts that only A has.
    pub only_a: Vec<String>,
    /// Texts that only B has.
    pub only_b: Vec<String>,
    /// Description.
    pub sentence: String,
}

/// Value in one run. The unit depends on the property: Hz for `clock`, 1/1000 °C for `temperature`,
/// ns for `probe_cost`, the unit of the ceiling for `ceiling`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ThingValue {
    /// A number; for more than 32 texts their count.
    Number(f64),
    /// Texts.
    Texts(Vec<String>),
    /// Not recorded.
    Unknown(Option<()>),
}

/// Compared calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// Calls skipped at the start of each run.
    pub warm_up: u64,
    /// First context position that all runs have; `null` if positions are unknown.
    pub first_position: Option<u32>,
    /// Last context position that all runs have; `null` if positions are unknown.
    pub last_position: Option<u32>,
    /// Of calls that read prompts: their numbers of tokens, those of all runs. Empty for any number.
    #[serde(default)]
    pub sizes: Vec<u32>,
    /// Only calls with complete operator capture are compared.
    pub traced: bool,
    /// Description.
    pub sentence: String,
}

/// One side of the comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Name.
    pub name: String,
    /// Mean over the runs of the run means, ns.
    pub mean_ns: Option<u64>,
    /// Median over the runs of the run medians, ns.
    pub median_ns: Option<u64>,
    /// Tokens per second, from `mean_ns`; `null` for calls of an encoder.
    pub tokens_per_s: Option<f64>,
    /// Difference between the slowest and the fastest run, as a share of the fastest; `null` with a
    /// single run.
    pub spread_share: Option<f64>,
    /// Runs.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Name.
    pub name: String,
    /// Number of compared calls.
    pub calls: u64,
    /// Their units: tokens that came out, prompt tokens, or calls.
    pub units: u64,
    /// Mean time per unit, ns.
    pub mean_ns: u64,
    /// Median of the calls' times per unit, ns.
    pub median_ns: u64,
    /// Half of the 95 % interval of the mean, from the variation within the run, as a share.
    pub half_share: Option<f64>,
    /// Share of the time that other programs with its CPUs, or its own threads sharing one, delayed it.
    pub disturbed_share: Option<f64>,
}

/// A caveat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// `different_work`, `no_common_positions`, `tail`, `disturbed`, `runs`, `positions`, `sizes`,
    /// `not_in_turn`, `not_traced`, `rows_need_runs` or `other_contexts`.
    pub code: String,
    /// Description.
    pub sentence: String,
}

/// Mean time per unit of both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// A, ns.
    pub a_ns: i64,
    /// B, ns.
    pub b_ns: i64,
    /// B minus A, ns.
    pub change_ns: i64,
}

/// A part of the change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRow {
    /// `step`, `module`, `operator` or `tensor`. The rows of each level sum to `change`.
    pub level: String,
    /// Step of the ladder. `above_floor` is all of the operators' time: their limits are those of a
    /// recording. `small_causes` are programs below 0.5 % of the time on both sides.
    pub step: StepKind,
    /// Name of the program; set for `program`. Programs of one name are one.
    pub culprit: Option<String>,
    /// Part of the model; set in rows of modules, for time within operators. Versions of an engine that compute it by
    /// one operator or by several have one row for it.
    #[serde(default)]
    pub module: Option<Module>,
    /// Operator; `null` for time outside of operators.
    pub op: Option<String>,
    /// Tensor name; `null` for rows of other levels.
    pub tensor: Option<String>,
    /// Display name.
    pub title: String,
    /// Time per unit of A, ns.
    pub a_ns: i64,
    /// Time per unit of B, ns.
    pub b_ns: i64,
    /// B minus A, ns.
    pub change_ns: i64,
    /// The change as a share of A's time per unit.
    pub change_share: Option<f64>,
    /// p-value; `null` with fewer than four runs on a side.
    pub p: Option<f64>,
    /// The change is significant, corrected for the number of rows; `null` without a p-value.
    pub stands: Option<bool>,
}
