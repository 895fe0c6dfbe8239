//! `tokens.requests`: a prompt and its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A prompt and the tokens generated from it, by sequences and positions: those of `server`, and of
/// contexts whose batches show no sequences, by the positions in their graphs. Where several sequences may
/// share a call without a list, or positions are unknown too, there are no requests. Warm-up calls and
/// calls of a draft are in no request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Index among the requests, from 0.
    pub index: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Sequence number, if several sequences share the calls of the context; `null` otherwise, and
    /// if batches have no sequences.
    pub slot: Option<i32>,
    /// Prompt tokens that were in the cache; `null` if unknown.
    pub reused: Option<u32>,
    /// `id` of its first `llama_decode` call.
    pub first_call: u32,
    /// Computed tokens of its prompt; 0 where unknown.
    pub prompt_tokens: u64,
    /// Time to first token: from the start of the first call with its prompt, or of an encoder just before
    /// it, to the end of the call with its first output, ns; `null` without one. It excludes tokenization before and sampling after.
    pub ttft_ns: Option<u64>,
    /// Part of `ttft_ns` in which graphs of an encoder of images or sound ran, ns.
    #[serde(default)]
    pub encode_ns: u64,
    /// Generated tokens without the one of the prompt's last call; the tokens that came out of a verified
    /// draft (at least one, if unknown).
    pub generated: u64,
    /// Time per output token: mean time between the ends of consecutive calls that generate, per
    /// token, sampling included, ns; the first interval starts at the end of prefill. `null`
    /// without such a pair of calls.
    pub tpot_ns: Option<u64>,
    /// Tokens per second, from `tpot_ns`.
    pub decode_tokens_per_s: Option<f64>,
}
