//! `tokens.requests`: a prompt and its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A prompt and the tokens generated from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Position among the requests, from 0.
    pub index: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Number of its sequence, where several share the calls of its context; `null` where they do
    /// not, or the batches do not tell.
    pub slot: Option<i32>,
    /// Tokens of its prompt that the cache held already, of a request with a slot; `null` where
    /// that is not known.
    pub reused: Option<u32>,
    /// Row of its first token call.
    pub first_call: u32,
    /// Tokens of the prompt: those of its prefill calls.
    pub prompt_tokens: u64,
    /// Time to first token: start of the first prefill call to the end of the last, ns; `null` when
    /// the request has no prefill call. What comes before (tokenising) and after (sampling) is not
    /// in it.
    pub ttft_ns: Option<u64>,
    /// Tokens that were generated: one for each decode call; for a call of several sequences the
    /// tokens that it has; for one that verifies a draft those that were accepted, and one more. At
    /// least one where that is not known.
    pub generated: u64,
    /// Time per output token: mean time from the end of one call to the end of the next that
    /// generates, ns, for each token of it, so that sampling is in it; `null` when no such call
    /// follows another call.
    pub tpot_ns: Option<u64>,
    /// The same as tokens per second.
    pub decode_tokens_per_s: Option<f64>,
}
