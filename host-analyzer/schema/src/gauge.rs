//! `gauges`: the board's sensors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Statistics of a sensor. A value holds until the next sample, for at most two periods; a rate of
/// bytes holds from one value to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GaugeFigures {
    /// Smallest value.
    pub min: f64,
    /// Time-weighted mean.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
    /// Time for which a value is known, ns.
    pub covered_ns: u64,
}

/// One sensor of the board. Sensors that could not be read have a row too. Traffic is for the
/// complete system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gauge {
    /// Sensor name.
    pub name: String,
    /// Measured quantity: `frequency`, `temperature`, `load`, `ddr` or `power`.
    pub kind: String,
    /// Unit of the statistics: `hertz`, `millidegrees` (Celsius), `percent`, `bytes_per_s` or
    /// `microwatts`.
    pub unit: String,
    /// File, or PMU and event.
    pub source: String,
    /// Sampling period, ns.
    pub period_ns: u64,
    /// The agent could read the sensor.
    pub attached: bool,
    /// Why the sensor was not read, or why samples or statistics are missing (the reason of the
    /// first missing sample); empty otherwise.
    pub note: String,
    /// Number of samples with a value.
    pub samples: u64,
    /// Number of failed samples.
    pub absent: u64,
    /// Statistics over the session; `null` if no value is known, or for a byte counter that never
    /// counted.
    pub session: Option<GaugeFigures>,
    /// Statistics within successful decode calls. Calls that overlap count once. `null` like
    /// `session`.
    pub decode: Option<GaugeFigures>,
    /// Bytes per decode token, for calls that the samples cover completely; `null` for other units,
    /// and without such calls.
    pub decode_bytes_per_token: Option<f64>,
    /// Number of tokens in the calls of `decode_bytes_per_token`.
    pub decode_tokens: u64,
}
