//! `gauges`: the board's sensors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures over some time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GaugeFigures {
    /// Least value.
    pub min: f64,
    /// Mean, weighted by time.
    pub mean: f64,
    /// Greatest value.
    pub max: f64,
    /// Time for which a value is known, ns.
    pub covered_ns: u64,
}

/// One sensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gauge {
    /// Name.
    pub name: String,
    /// What it measures: `frequency`, `temperature`, `load`, `ddr` or `power`.
    pub kind: String,
    /// Unit of the figures: `hertz`, `millidegrees` (Celsius), `percent`, `bytes_per_s` or
    /// `microwatts`.
    pub unit: String,
    /// The file, or PMU/event.
    pub source: String,
    /// Time between two samples, ns.
    pub period_ns: u64,
    /// It was read.
    pub attached: bool,
    /// Why it was not read, or why values or figures are absent; empty otherwise.
    pub note: String,
    /// Samples with a value.
    pub samples: u64,
    /// Samples without one: the sensor could not be read.
    pub absent: u64,
    /// Figures over the session.
    pub whole: Option<GaugeFigures>,
    /// Figures within decode calls that returned success.
    pub decode: Option<GaugeFigures>,
    /// Of bytes: per token of the decode calls that were covered whole.
    pub decode_bytes_per_token: Option<f64>,
    /// Number of these tokens.
    pub decode_tokens: u64,
}
