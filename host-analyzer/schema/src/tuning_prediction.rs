//! `tune.json`: what is predicted from one recording.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::Top;

/// Predicted settings: of a mean decode token, without what the probes take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningPrediction {
    /// Name of the setting with the fewest threads among those that are `sure`; `null` without any.
    pub choice: Option<String>,
    /// Names of the settings that are `plausible`.
    pub plausible: Vec<String>,
    /// A cache holds the weights.
    pub cached: bool,
    /// Part of the operators' time that their bytes take at the read ceiling; 0 with `cached` weights.
    pub memory_share: f64,
    /// The read ceiling of the recorded setting.
    pub read: Option<Top>,
    /// What was recorded.
    pub recorded: RecordedSetting,
    /// The settings.
    pub settings: Vec<PredictedSetting>,
}

/// The recorded setting. The times of `operators`, `between_operators_ns`, `serial_ns`, `waits_ns`,
/// `taken_ns` and `other_ns` sum to `token_ns`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedSetting {
    /// Decode tokens.
    pub tokens: u64,
    /// Threads.
    pub threads: u32,
    /// CPUs.
    pub cpus: Vec<u16>,
    /// Mean decode token without the probes, ns.
    pub token_ns: f64,
    /// Half of its 95 % interval, ns; `null` of few tokens.
    pub half_ns: Option<f64>,
    /// What the probes take of a token, ns.
    pub probes_ns: f64,
    /// Operators that are executed for a token.
    pub barriers: f64,
    /// Between operators, ns.
    pub between_operators_ns: f64,
    /// On one thread, ns.
    pub serial_ns: f64,
    /// Waits, ns.
    pub waits_ns: f64,
    /// Taken by other tasks, interrupts and disks, ns.
    pub taken_ns: f64,
    /// Everything else, ns.
    pub other_ns: f64,
    /// Operators by type.
    pub operators: Vec<OperatorShare>,
}

/// Operators of one type in a token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorShare {
    /// As the engine describes it.
    pub desc: String,
    /// Parts into which threads can divide it.
    pub rows: u64,
    /// It multiplies by weights.
    pub weights: bool,
    /// Ceiling of what memory does not limit: `int8`, `f32` or `f16`.
    pub arithmetic: String,
    /// Time, ns.
    pub ns: f64,
    /// Bytes of weights and KV cache that it reads.
    pub bytes: f64,
}

/// A predicted setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedSetting {
    /// Its name.
    pub name: String,
    /// Threads.
    pub threads: u32,
    /// CPUs, as a list in text.
    pub cpus: String,
    /// Type of the cores.
    pub core: Option<String>,
    /// Predicted time of a token, ns.
    pub token_ns: f64,
    /// Least in any case, ns.
    pub low_ns: f64,
    /// Most in any case, ns.
    pub high_ns: f64,
    /// It is the recorded one.
    pub recorded: bool,
    /// Within `practical_share` of the best in some case, with 10 % on top.
    pub plausible: bool,
    /// Within `practical_share` of the best in every case.
    pub sure: bool,
}
