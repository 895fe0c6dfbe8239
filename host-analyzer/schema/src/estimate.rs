//! `op_types[].estimate`: figures of all tokens, from a part of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An interval of 95 %.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Low end.
    pub low: f64,
    /// High end.
    pub high: f64,
}

/// A figure with its interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its interval of 95 %; `null` from fewer than three bursts, which say too little of others.
    pub interval: Option<Interval>,
}

/// What the traced tokens say of all tokens of the phase, for one type of operator. Nothing is
/// scaled: each is a ratio.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeEstimate {
    /// Wall time for a traced token call, ns.
    pub wall_per_call: Option<Estimate>,
    /// Wall time of one execution, ns.
    pub wall_per_execution: Option<Estimate>,
    /// Part of the operator wall time of the phase on its backend, 0 to 1.
    pub share: Option<Estimate>,
}
