//! `tokens.requests`: a prompt and its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A prompt and the tokens generated from it. If batches have sequences, requests are those of
/// `server`. Otherwise a request starts with the context's first call, and
/// with a prefill call after a decode call. It also starts with a prefill call after a prefill call
/// that cannot be the next part of the same prompt: it has more tokens, computes exactly the same
/// graph, or the thread served another context in between. Warm-up calls and calls of a draft are
/// in no request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Index among the requests, from 0.
    pub index: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Sequence number, if several sequences share the calls of the context; `null` otherwise, and
    /// if batches have no sequences.
    pub slot: Option<i32>,
    /// Prompt tokens that were in the cache; `null` if unknown, as without sequences.
    pub reused: Option<u32>,
    /// `id` of its first `llama_decode` call.
    pub first_call: u32,
    /// Tokens in its prefill calls.
    pub prompt_tokens: u64,
    /// Time to first token: start of the first prefill call to the end of the last, ns; `null`
    /// without a prefill call. It excludes tokenization before and sampling after.
    pub ttft_ns: Option<u64>,
    /// Generated tokens: one per decode call, the tokens of the batch for parallel sequences, and
    /// the tokens that came out of a verified draft (at least one, if unknown).
    pub generated: u64,
    /// Time per output token: mean time between the ends of consecutive calls that generate, per
    /// token, sampling included, ns; the first interval starts at the end of prefill. `null`
    /// without such a pair of calls.
    pub tpot_ns: Option<u64>,
    /// Tokens per second, from `tpot_ns`.
    pub decode_tokens_per_s: Option<f64>,
}
