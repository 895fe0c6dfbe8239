//! `kv`: how the time of a decode call grows with the context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the decode calls of one context grow with its KV cells. The estimate is a straight line
/// through the medians of at least three steps, weighted by their tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kv {
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Cell counts that at least 8 decode calls had. The engine pads the cells, so they grow in
    /// steps.
    pub steps: Vec<KvStep>,
    /// Capacity of the KV cache, cells; `null` if the cache tensor does not reveal it.
    pub limit_cells: Option<u64>,
    /// Growth of a `llama_decode` call; `null` with fewer than three steps.
    pub token: Option<Growth>,
    /// Time of a call with the cache full; `null` with fewer than three steps.
    pub at_limit: Option<KvAtLimit>,
    /// Growth by operator type, the steepest first; empty with fewer than three steps.
    pub types: Vec<GrowingOperators>,
    /// Growth by tensor name without the layer number; empty with fewer than three steps.
    pub names: Vec<GrowingOperators>,
}

/// The decode calls that had one number of cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KvStep {
    /// KV cells, padding included.
    pub cells: u64,
    /// Number of decode calls.
    pub tokens: u64,
    /// Median duration of these calls, ns.
    pub median_ns: u64,
}

/// How a time grows with the cells. The interval has 95 % confidence. It is the wider of two: from
/// the errors of the medians (order statistics), and from their variation around the line
/// (Student's t).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Extra time per token for 1,000 more cells, ns.
    pub ns_per_1000_cells: i64,
    /// Low end of the interval of `ns_per_1000_cells`, ns.
    pub low_ns: i64,
    /// High end of the interval, ns.
    pub high_ns: i64,
    /// The complete interval is above 0.
    pub grows: bool,
    /// Median time per token at the largest step, ns.
    pub median_ns: u64,
    /// Share of the median call duration at the largest step, 0 to 1.
    pub share: f64,
}

/// Growth of the operators with one type or one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowingOperators {
    /// Tensor name without the layer number; `null` in `types`.
    pub name: Option<String>,
    /// Operator.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// Backend.
    pub backend: String,
    /// Growth of the operators' wall time per token.
    #[serde(flatten)]
    pub growth: Growth,
}

/// Estimated duration of a `llama_decode` call with the KV cache full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KvAtLimit {
    /// Estimate, ns.
    pub token_ns: u64,
    /// Low end of the 95 % interval, ns.
    pub low_ns: u64,
    /// High end of the 95 % interval, ns.
    pub high_ns: u64,
}
