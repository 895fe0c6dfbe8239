//! `tune.json`: settings that were tried, and what one recording says of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tuning_prediction::TuningPrediction;

/// `tune.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// Version of the schema.
    pub schema: u32,
    /// This version is not released: fields may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// `tried`, or `foreseen` where nothing was tried.
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

/// A setting that was tried.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedSetting {
    /// Its name.
    pub name: String,
    /// Threads.
    pub threads: Option<u32>,
    /// CPUs, as a list in text.
    pub cpus: Option<String>,
    /// `fastest`, `as_fast`, `slower`, `undecided` or `other_work`.
    pub standing: Option<String>,
    /// Median over the runs of their mean time of a decode token, ns.
    pub token_ns: Option<u64>,
    /// These means, ns.
    pub runs_ns: Vec<u64>,
    /// How much longer a token takes than of the fastest, as `analyze compare` estimates it.
    pub longer_share: Option<f64>,
    /// Low end of its interval.
    pub low_share: Option<f64>,
    /// High end of its interval.
    pub high_share: Option<f64>,
    /// Time of a prompt's token, ns.
    pub prompt_token_ns: Option<u64>,
    /// Means of the clocks, Hz.
    pub clocks: Vec<SensorMean>,
    /// Means of the power sensors, W.
    pub power: Vec<SensorMean>,
    /// Energy per token, J; only where the board has one sensor of power.
    pub joules_per_token: Option<f64>,
}

/// Mean of a sensor while tokens were generated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensorMean {
    /// Its name.
    pub name: String,
    /// The mean.
    pub mean: f64,
}
