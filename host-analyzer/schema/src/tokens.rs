//! `tokens`: the token level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::{Phase, PhaseBy};
use super::request::Request;

/// Token level of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Calls that read prompts.
    pub prefill: PhaseTotals,
    /// Calls with one token.
    pub decode: PhaseTotals,
    /// Calls that continue several sequences, or verify a draft.
    pub batch_decode: PhaseTotals,
    /// Calls of draft models.
    pub draft: PhaseTotals,
    /// Trials of the engine's own.
    pub warm_up: PhaseTotals,
    /// Calls that did not return success.
    pub failed_calls: u64,
    /// Requests, by start.
    pub requests: Vec<Request>,
    /// Calls, by start.
    pub calls: Vec<Call>,
}

/// The successful calls of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseTotals {
    /// Calls.
    pub calls: u64,
    /// Tokens in their batches.
    pub tokens: u64,
    /// Sum of their lengths, ns.
    pub time_ns: u64,
    /// Tokens divided by that time; `null` without calls.
    pub tokens_per_s: Option<f64>,
    /// Median length of a call, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile of the length of a call, ns.
    pub p95_ns: Option<u64>,
    /// Time in graph calls, ns; `null` when none was seen inside.
    pub graph_ns: Option<u64>,
    /// Operator wall time, summed over executions of the traced calls, ns; `null` when none was
    /// seen inside.
    pub op_wall_ns: Option<u64>,
    /// Those of its calls whose operators were captured whole.
    pub traced_calls: u64,
    /// Sum of the lengths of those, ns: what `op_wall_ns` is a part of.
    pub traced_time_ns: u64,
    /// Those of its calls whose phase was told by the number of tokens alone.
    pub phase_by_token_count: u64,
}

/// One token call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Row in the table of token calls, from 0.
    pub id: u32,
    /// Phase.
    pub phase: Phase,
    /// What the phase was told by.
    pub phase_by: PhaseBy,
    /// Function.
    pub function: String,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Thread id of the kernel.
    pub thread: u32,
    /// Entry, ns from the start of the session.
    pub start_ns: u64,
    /// Length, ns.
    pub duration_ns: u64,
    /// Tokens in the batch; `null` when not known.
    pub n_tokens: Option<u32>,
    /// How many of them have logits; `null` when not known.
    pub logits: Option<u64>,
    /// Position of the batch's first token, as the first graph's rotary embedding reads it: what
    /// its sequence had in the context before. `null` when not known.
    pub n_past: Option<u32>,
    /// Cells of the KV cache over which the last graph's attention goes, padding included; `null`
    /// when not known.
    pub n_kv: Option<u64>,
    /// Time in graph calls, ns; `null` when none was seen inside.
    pub graph_ns: Option<u64>,
    /// Operator wall time, summed over executions, ns; `null` when none was seen inside, or the
    /// call was not traced whole.
    pub op_wall_ns: Option<u64>,
    /// What is known of its operators.
    pub traced: Traced,
    /// Returned value, 0 is success.
    pub status: i32,
}

/// What is known of the operators of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Traced {
    /// All were captured, except for what filters left out and what was lost.
    #[default]
    Whole,
    /// None was captured: the engine ran without operator probes.
    Untraced,
    /// Probes were attached or detached while the call ran: its operators are in no figure.
    Edge,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
