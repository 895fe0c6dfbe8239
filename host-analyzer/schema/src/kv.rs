//! `kv`: growth of a decode call with the context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kv {
    /// Process.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Steps with enough tokens for a median.
    pub steps: Vec<KvStep>,
    /// Cells that the context has at most, as its cache was made; `null` when not known.
    pub limit_cells: Option<u64>,
    /// A whole token call; `null` with fewer than three steps, as everything below.
    pub token: Option<Growth>,
    /// A token with the cache full.
    pub at_limit: Option<KvAtLimit>,
    /// By type of operator, what grows most first.
    pub types: Vec<GrowingOperators>,
    /// By tensor name without the layer's number.
    pub names: Vec<GrowingOperators>,
}

/// Tokens with so many cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KvStep {
    /// Cells, padding included.
    pub cells: u64,
    /// Decode calls.
    pub tokens: u64,
    /// Median length of the call, ns.
    pub median_ns: u64,
}

/// How a time grows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Time for a token that 1,000 cells more cost, ns.
    pub ns_per_1000_cells: i64,
    /// The interval of that: its low end, ns.
    pub low_ns: i64,
    /// Its high end, ns.
    pub high_ns: i64,
    /// The whole interval is above 0.
    pub grows: bool,
    /// Median for a token of the largest step, ns.
    pub median_ns: u64,
    /// Part of a token call's median there, 0 to 1.
    pub share: f64,
}

/// Operators that grow together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowingOperators {
    /// Tensor name without the layer's number; `null` of a type.
    pub name: Option<String>,
    /// Operator.
    pub op: String,
    /// As the engine describes it.
    pub desc: String,
    /// Backend.
    pub backend: String,
    /// Wall time of their executions for a token.
    #[serde(flatten)]
    pub growth: Growth,
}

/// A token with the cache full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KvAtLimit {
    /// Length of the call, ns.
    pub token_ns: u64,
    /// Low end of its interval, ns.
    pub low_ns: u64,
    /// High end, ns.
    pub high_ns: u64,
}
