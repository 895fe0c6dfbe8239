//! `op_types[].estimate`: estimates for all tokens, from the traced ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A 95 % interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Low end.
    pub low: f64,
    /// High end.
    pub high: f64,
}

/// An estimate with its interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Estimate.
    pub value: f64,
    /// 95 % interval; `null` with fewer than three bursts.
    pub interval: Option<Interval>,
}

/// Estimates for all tokens of the phase, for one operator type. Nothing is scaled up: each is a
/// ratio. The tokens of a burst are similar, so the burst is the sampling unit: ratio estimator of
/// a cluster sample, Student's t with bursts - 1 degrees of freedom (Cochran, Sampling Techniques,
/// 1977, 6.3 and 9A.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeEstimate {
    /// Wall time per `llama_decode` call, ns.
    pub wall_per_call: Option<Estimate>,
    /// Wall time per execution, ns.
    pub wall_per_execution: Option<Estimate>,
    /// Share of the operator wall time of the phase on this backend, 0 to 1.
    pub share: Option<Estimate>,
}
