//! `tune.json`: measured and predicted settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tuning_prediction::TuningPrediction;

/// `tune.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// Schema version.
    pub schema: u32,
    /// True until this version is released. Fields of a draft may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// `tried`, or `estimated` where nothing was tried.
    pub status: String,
    /// What the terminal prints first.
    pub advice: Vec<String>,
    /// Name of the fastest setting that was tried; `null` where no run has tokens that can be compared.
    pub fastest: Option<String>,
    /// Name of the setting to choose; `null` likewise.
    pub choice: Option<String>,
    /// Names of settings with fewer threads than the choice that may be as fast.
    pub open: Vec<String>,
    /// How much longer than the fastest a token of the choice may take.
    pub practical_share: f64,
    /// Settings that were tried, few threads first.
    pub settings: Vec<TriedSetting>,
    /// What one recording says of settings that were not tried; `null` without one.
    pub prediction: Option<TuningPrediction>,
}

/// A setting that was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedSetting {
    /// Its name.
    pub name: String,
    /// Threads.
    pub threads: Option<u32>,
    /// CPU list, as text.
    pub cpus: Option<String>,
    /// `fastest`, `as_fast`, `slower`, `undecided` or `other_work`.
    pub standing: Option<String>,
    /// Median over the runs of each run's mean time per decode token, ns.
    pub token_ns: Option<u64>,
    /// Mean time per decode token of each run, ns.
    pub runs_ns: Vec<u64>,
    /// How much longer a token takes than with the fastest setting, as a share; estimated as
    /// `analyze compare` does.
    pub longer_share: Option<f64>,
    /// Low end of the interval of `longer_share`.
    pub low_share: Option<f64>,
    /// High end of the interval.
    pub high_share: Option<f64>,
    /// Time per prompt token, ns.
    pub prompt_token_ns: Option<u64>,
    /// Mean clocks, Hz.
    pub clocks: Vec<SensorMean>,
    /// Mean power, W.
    pub power: Vec<SensorMean>,
    /// Energy per token, J; `null` unless the board has exactly one power sensor.
    pub joules_per_token: Option<f64>,
}

/// Mean of a sensor during text generation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensorMean {
    /// Sensor name.
    pub name: String,
    /// Mean value.
    pub mean: f64,
}
