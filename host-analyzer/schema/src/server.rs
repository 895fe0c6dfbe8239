//! `server`: requests by slot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests by slot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Server {
    /// Contexts whose batches tell sequences, by process and address.
    pub contexts: Vec<ServerContext>,
    /// Requests, by start.
    pub requests: Vec<SlotRequest>,
}

/// One context, and its sequences.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerContext {
    /// Process.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Over its requests.
    #[serde(flatten)]
    pub spreads: Spreads,
    /// The same of each slot.
    pub slots: Vec<Slot>,
    /// What the batches were made of, by how many sequences they had.
    pub batches: Vec<Batches>,
    /// Calls whose batches were not told whole; requests in them lack figures.
    pub calls_not_whole: u64,
}

/// One sequence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slot {
    /// Number of the sequence, which is that of the slot in llama-server.
    pub slot: i32,
    /// Over its requests.
    #[serde(flatten)]
    pub spreads: Spreads,
}

/// What some requests have in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spreads {
    /// Requests.
    pub requests: u64,
    /// Time to first token, ns.
    pub ttft_ns: Spread,
    /// Time per output token, ns.
    pub tpot_ns: Spread,
    /// Time within the TTFT in which no call had tokens of the request, ns.
    pub waited_ns: Spread,
    /// Tokens of the prompt that were computed.
    pub prompt_tokens: Spread,
    /// Tokens of the prompt that were in the cache.
    pub reused: Spread,
    /// Tokens that came out.
    pub output_tokens: Spread,
}

/// Percentiles of one figure over the requests that have it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Requests that have the figure.
    pub n: u64,
    /// Median; `null`, as the others, without such requests.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
}

/// The calls with so many sequences in their batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Batches {
    /// Sequences in the batch.
    pub sequences: u32,
    /// Calls.
    pub calls: u64,
    /// Those of them with tokens of prompts and of answers: the answers wait for the prompts.
    pub mixed_calls: u64,
    /// Their time, ns.
    pub time_ns: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens that go on with an answer, guesses of a draft included.
    pub answer_tokens: u64,
}

/// A prompt in a slot, and what came out of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotRequest {
    /// Position among the requests, from 0.
    pub index: u32,
    /// Process.
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Number of the sequence.
    pub slot: i32,
    /// Row of its first token call.
    pub first_call: u32,
    /// Start of that call, ns from the start of the session.
    pub start_ns: u64,
    /// End of its last call, ns from the start of the session.
    pub end_ns: u64,
    /// What its beginning was told by.
    pub begin: Begin,
    /// Tokens of its prompt that the cache held already: the position of the first token that was
    /// computed. `null` where the beginning was not seen.
    pub reused: Option<u32>,
    /// Tokens of its prompt that were computed; `null` where not all were seen.
    pub prompt_tokens: Option<u64>,
    /// Calls that computed them.
    pub prompt_calls: u64,
    /// From the start of the first call with its tokens to the end of the call with its first
    /// output, ns; `null` where either was not seen.
    pub ttft_ns: Option<u64>,
    /// Of that, the time in which no call had tokens of this request, ns: other slots, and the
    /// server itself.
    pub waited_ns: Option<u64>,
    /// Tokens that came out, by positions: one of the prompt's last call, one of each call behind,
    /// and of a verified draft those that were accepted. Of a draft in the last call that is not
    /// known: one is counted.
    pub output_tokens: Option<u64>,
    /// Time from the end of one call with an output to the end of the next, ns for each token of
    /// it; `null` of one output.
    pub tpot_ns: Option<u64>,
}

/// What the beginning of a request was told by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    /// Tokens of a prompt: several, or without an output, or at the first position.
    Prompt,
    /// One token with an output, at a position that the sequence had already: a prompt that was in
    /// the cache but for its last token. An engine that shifts its context, because it is full,
    /// looks the same.
    Back,
    /// It was answering when it was seen first: what came before is not known.
    #[default]
    Unseen,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
