//! `slowdown`: overhead of operator capture on decode calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much longer a decode call takes because its operators are captured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Slowdown {
    /// Measured: traced tokens compared with untraced ones of the same recording. Each burst of
    /// traced tokens is compared with the untraced tokens just before and after it that have the
    /// same context and number of cells. The comparison uses a straight line through both sides,
    /// which removes growth with the position. It needs six bursts.
    Measured(MeasuredSlowdown),
    /// Estimated: from the step `probes` of the ladder of decode tokens.
    Estimated {
        /// p / (t - p), where t is the time of traced decode tokens and p that of the probes in them, by
        /// the agent's measurement. It omits the CPU time that the agent takes from the engine, and the
        /// effect of probes on caches.
        slowdown: f64,
        /// The same of all decode tokens.
        #[serde(default)]
        of_all_tokens: Option<f64>,
    },
    /// Unknown: no decode tokens, no operators, or too few bursts and no measured probe cost.
    #[default]
    Unknown,
    /// A kind of a newer `analyze`.
    #[serde(other)]
    #[schemars(skip)]
    Newer,
}

/// A measured slowdown. 0.01 is 1 %; negative means faster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredSlowdown {
    /// Slowdown of a traced token: median over the bursts.
    pub slowdown: f64,
    /// Low end of the 95 % interval (order statistics). It is valid for any distribution of the
    /// bursts' ratios, if they are independent.
    pub low: f64,
    /// High end of the interval.
    pub high: f64,
    /// Slowdown averaged over all decode tokens: the median times the share of traced tokens, plus
    /// the edge slowdown times the share of edge tokens.
    pub of_all_tokens: f64,
    /// Bursts that have untraced neighbours on both sides.
    pub bursts: u64,
    /// Traced tokens in these bursts.
    pub traced: u64,
    /// Untraced neighbours of these bursts.
    pub untraced: u64,
    /// Slowdown of the tokens during which probes were attached or detached; `null` with such
    /// tokens around fewer than six bursts.
    pub edges: Option<MeasuredEdges>,
}

/// Slowdown of the tokens during which probes were attached or detached, compared with the same
/// line: pauses, and partly traced operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredEdges {
    /// Slowdown of such a token: median over the bursts.
    pub slowdown: f64,
    /// Low end of the 95 % interval.
    pub low: f64,
    /// High end of the interval.
    pub high: f64,
    /// Extra time of all such tokens around one burst: median over the bursts, ns. Negative means
    /// faster.
    pub extra_ns: f64,
    /// Number of such tokens.
    pub tokens: u64,
}
