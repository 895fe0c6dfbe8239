//! `slowdown`: what capturing operators adds to a decode call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much longer a decode call takes because its operators are captured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Slowdown {
    /// Traced tokens next to untraced ones of the same recording.
    Measured(MeasuredSlowdown),
    /// Operators times the measured cost of their probes.
    Estimated {
        /// `p / (t - p)`: t is the time of traced decode calls, p the number of operators in them times
        /// `cost.probe_pair_ns`. Without what the agent takes from the engine's CPUs, and without the
        /// probes' effect on caches.
        slowdown: f64,
    },
    /// Neither: no decode tokens, no operators, or too few bursts and no measured probe.
    #[default]
    Unknown,
    /// A kind of a newer `analyze`.
    #[serde(other)]
    #[schemars(skip)]
    Newer,
}

/// A measured slowdown; 0.01 is 1 %, negative is faster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredSlowdown {
    /// Of a traced token: the median over the bursts.
    pub slowdown: f64,
    /// Its interval of 95 %: it holds whatever the distribution of the bursts' ratios is, as long
    /// as they do not depend on each other.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// The same of all decode tokens: the median times the part of them that is traced, and that of
    /// the edges times theirs.
    pub of_all_tokens: f64,
    /// Bursts that had untraced neighbours on both sides.
    pub bursts: u64,
    /// Traced tokens in them.
    pub traced: u64,
    /// Their untraced neighbours.
    pub untraced: u64,
    /// Of the tokens in which probes were put in or taken out; `null` where there are none around
    /// six bursts.
    pub edges: Option<MeasuredEdges>,
}

/// What putting probes in and taking them out costs the tokens around a burst: pauses, and
/// operators that were traced in part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredEdges {
    /// Of such a token: the median over the bursts.
    pub slowdown: f64,
    /// Its interval of 95 %.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// Time that they take longer around one burst, in all: the median over the bursts, ns.
    /// Negative: less.
    pub extra_ns: f64,
    /// Such tokens.
    pub tokens: u64,
}
