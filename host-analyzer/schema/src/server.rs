//! `server`: requests by slot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests by slot; in llama-server a slot is a sequence of the context. They are reconstructed
/// from the sequences and positions in the batches of successful `llama_decode` calls, without
/// drafts and warm-ups. Empty if batches have no sequences: recordings of older agents, programs
/// that leave them to the engine, and builds of llama.cpp 0.6.0 and later without the names of
/// the functions that fill batches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Server {
    /// Contexts whose batches have sequences, by process and address.
    pub contexts: Vec<ServerContext>,
    /// Requests, by start.
    pub requests: Vec<SlotRequest>,
}

/// One context and its slots.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerContext {
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Percentiles over all requests.
    #[serde(flatten)]
    pub spreads: Spreads,
    /// Percentiles per slot.
    pub slots: Vec<Slot>,
    /// Calls by number of sequences in the batch.
    pub batches: Vec<Batches>,
    /// Calls whose batch was recorded incompletely. Requests with tokens in them lack figures.
    pub incomplete_calls: u64,
    /// Its sequences are branches of one text (lookahead), and one request.
    #[serde(default)]
    pub branches: bool,
}

/// One slot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slot {
    /// Sequence number; in llama-server the slot number.
    pub slot: i32,
    /// Percentiles over the requests of the slot.
    #[serde(flatten)]
    pub spreads: Spreads,
}

/// Percentiles over requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spreads {
    /// Number of requests.
    pub requests: u64,
    /// Time to first token, ns.
    pub ttft_ns: Spread,
    /// Time per output token, ns.
    pub tpot_ns: Spread,
    /// Part of the TTFT in which no call had tokens of the request, ns.
    pub waited_ns: Spread,
    /// Prompt tokens that were computed.
    pub prompt_tokens: Spread,
    /// Prompt tokens that were in the cache.
    pub reused: Spread,
    /// Output tokens.
    pub output_tokens: Spread,
    /// Shares of the time of calls, each divided by the tokens of its sequences: the sum over the requests, ns.
    #[serde(default)]
    pub cost_ns: u64,
}

/// Percentiles (nearest rank) over the requests that have the figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Number of requests that have the figure.
    pub n: u64,
    /// Median; `null` without such requests, like the others.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
}

/// Calls with one number of sequences in the batch. Tokens that several sequences share are not
/// counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Batches {
    /// Sequences in the batch.
    pub sequences: u32,
    /// Calls.
    pub calls: u64,
    /// Calls with prompt tokens and answer tokens. The answers wait for the prompts.
    pub mixed_calls: u64,
    /// Total call duration, ns.
    pub time_ns: u64,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Tokens that continue an answer, including guesses of a draft.
    pub answer_tokens: u64,
}

/// A request of one slot. A request whose prompt has exactly one token more than its slot holds
/// looks like the next token of the previous request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotRequest {
    /// Index among the requests, from 0.
    pub index: u32,
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Sequence number.
    pub slot: i32,
    /// `id` of its first `llama_decode` call.
    pub first_call: u32,
    /// Start of the first call, ns from session start.
    pub start_ns: u64,
    /// End of the last call, ns from session start.
    pub end_ns: u64,
    /// How its beginning was recognized.
    pub begin: Begin,
    /// Prompt tokens that were in the cache: those before the first computed token. `null` if the
    /// beginning was not seen.
    pub reused: Option<u32>,
    /// Prompt tokens that were computed; `null` if not all were seen.
    pub prompt_tokens: Option<u64>,
    /// Calls that computed prompt tokens.
    pub prompt_calls: u64,
    /// How often all of its tokens were read with logits for each: the steps of a diffusion model; else 1.
    #[serde(default)]
    pub reads: u64,
    /// Time to first token: start of the first call with its tokens, or of an encoder just before it, to
    /// the end of the call with its first output, ns; `null` if either was not seen. It excludes earlier waits: for a free slot,
    /// for tokenization, for the server loop.
    pub ttft_ns: Option<u64>,
    /// Part of `ttft_ns` in which graphs of an encoder of images or sound ran before and between the
    /// calls of its prompt, ns.
    #[serde(default)]
    pub encode_ns: u64,
    /// Part of `ttft_ns` in which neither a call had tokens of this request nor an encoder ran, ns: the
    /// server computed other slots, or nothing.
    pub waited_ns: Option<u64>,
    /// Output tokens, counted by positions: one from the last prompt call, one from each later
    /// call, and the accepted ones of a verified draft. A draft verified in the last call counts as
    /// one token, because its outcome is unknown. `null` if a batch is incomplete.
    pub output_tokens: Option<u64>,
    /// Its share of the time of its calls: each is divided by the tokens that every sequence has in it, ns.
    /// The shares of all requests sum to the time of the calls in which each token is of one sequence.
    #[serde(default)]
    pub cost_ns: u64,
    /// Time per output token: mean time from the end of one output call to the end of the next, per
    /// token, without the first token, ns; `null` with a single output.
    pub tpot_ns: Option<u64>,
}

/// How the beginning of a request was recognized.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    /// Prompt tokens: several tokens, or a token without output, or the first position.
    Prompt,
    /// One token with output, at a position that the sequence already had: all of the prompt except
    /// its last token was in the cache. A context shift looks the same.
    Back,
    /// The prompt of another sequence was copied: both answer it, and the time to the first token is that of
    /// its computation.
    Copied,
    /// The request was already generating when it was first seen.
    #[default]
    Unseen,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
