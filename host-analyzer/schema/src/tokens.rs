//! `tokens`: the token level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::{Phase, PhaseBy};
use super::request::Request;

/// `llama_decode` calls by phase, and requests. The totals of each phase include only successful
/// calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Prompt processing.
    pub prefill: PhaseTotals,
    /// Text generation, one token per call.
    pub decode: PhaseTotals,
    /// Parallel sequences, and verification of drafts.
    pub batch_decode: PhaseTotals,
    /// Calls of draft models.
    pub draft: PhaseTotals,
    /// Warm-up runs by the engine.
    pub warm_up: PhaseTotals,
    /// Graphs without tokens, of programs without a token level: encoders, or other computations than text.
    #[serde(default)]
    pub encode: PhaseTotals,
    /// Calls that returned an error. They are in `calls`, but in no totals.
    pub failed_calls: u64,
    /// Cost of a call that generates text, by context and number of sequences.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Context shifts, by context.
    #[serde(default)]
    pub context_shifts: Vec<ContextShifts>,
    /// Requests, by start.
    pub requests: Vec<Request>,
    /// Calls read prompts or generated, but neither their batches nor their graphs show whose tokens they
    /// had, so there are no requests.
    #[serde(default)]
    pub requests_unknown: bool,
    /// All calls, by start.
    pub calls: Vec<Call>,
}

/// The successful calls of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseTotals {
    /// Calls.
    pub calls: u64,
    /// Tokens in their batches.
    pub tokens: u64,
    /// Sum of the call durations, ns.
    pub time_ns: u64,
    /// Tokens per second in calls, as in the engine's own timings; `null` without calls.
    pub tokens_per_s: Option<f64>,
    /// Median call duration, ns; `null` without calls.
    pub median_ns: Option<u64>,
    /// 95th percentile of the call duration (nearest rank), ns; `null` without calls.
    pub p95_ns: Option<u64>,
    /// Time in graph calls, ns; `null` without graph calls.
    pub graph_ns: Option<u64>,
    /// Operator wall time of the traced calls, summed over executions, ns; `null` without
    /// operators.
    pub op_wall_ns: Option<u64>,
    /// Calls with complete operator capture.
    pub traced_calls: u64,
    /// Sum of the durations of the traced calls, ns. `op_wall_ns` is a part of this time.
    pub traced_time_ns: u64,
    /// Calls whose phase was determined from the number of tokens alone.
    pub phase_by_token_count: u64,
}

/// Calls that give each of their sequences one token and do nothing else. Prompts and verified guesses are in none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Sequences that get a token from each call.
    pub sequences: u32,
    /// Calls.
    pub calls: u64,
    /// Median duration of a call, ns.
    pub median_ns: u64,
    /// The same per token: divided by `sequences`, ns.
    pub token_ns: u64,
}

/// Context shifts: the engine dropped cells of a full context, and a graph rotated the keys of the others to
/// their new positions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextShifts {
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Number of shifts.
    pub shifts: u64,
    /// Total time of these graphs, ns.
    pub graph_ns: u64,
    /// Median duration of a call with a shift, ns.
    pub median_ns: u64,
    /// Median duration of the context's other calls that generate text, ns; `null` without any.
    pub other_median_ns: Option<u64>,
    /// Description.
    pub sentence: String,
}

/// One call of `llama_decode`, `llama_process` or `llama_encode`; of a program without a token level, one
/// outermost graph (function `graph`). `op_wall_ns` ≤ `graph_ns` ≤
/// `duration_ns`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Row in tokens.parquet, from 0.
    pub id: u32,
    /// Phase.
    pub phase: Phase,
    /// How the phase was determined.
    pub phase_by: PhaseBy,
    /// Called function.
    pub function: String,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Kernel thread id.
    pub thread: u32,
    /// Start, ns from session start.
    pub start_ns: u64,
    /// Duration, ns.
    pub duration_ns: u64,
    /// Tokens in the batch; `null` if unknown.
    pub n_tokens: Option<u32>,
    /// Tokens that have logits: rows of the tensor `result_output` over the call's graphs; `null`
    /// if unknown.
    pub logits: Option<u64>,
    /// Position of the first token in the batch, as read by the rotary embedding of the first
    /// graph: the number of earlier tokens of its sequence in the context. `null` without
    /// operators, and for models without a rotary embedding.
    pub n_past: Option<u32>,
    /// KV cells that the attention of the last graph reads, padding included; `null` without
    /// operators, and for models without attention.
    pub n_kv: Option<u64>,
    /// Time in the outermost graph calls, ns; `null` without graph calls.
    pub graph_ns: Option<u64>,
    /// Operator wall time, summed over executions, ns; `null` without operators, and if `traced` is
    /// not `whole`.
    pub op_wall_ns: Option<u64>,
    /// Whether its operators were captured.
    pub traced: Traced,
    /// Return value; 0 is success.
    pub status: i32,
}

/// Whether the operators of a call were captured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Traced {
    /// All were captured, except filtered and lost ones: the call ran entirely while the operator
    /// probes were attached.
    #[default]
    Whole,
    /// None was captured: the call ran without operator probes.
    Untraced,
    /// Probes were attached or detached during the call. Its operators are in no statistics.
    Edge,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
