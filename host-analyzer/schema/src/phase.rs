//! Phases of decode calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Purpose of a `llama_decode` call. A graph call and its operators have the phase of the call
/// around them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Prompt processing: fewer logits than tokens. Also a batch with logits for every token that
    /// starts at position 0.
    Prefill,
    /// Text generation: one token, with logits.
    Decode,
    /// Several tokens after others, each with logits: parallel sequences, or verification of a
    /// draft.
    BatchDecode,
    /// Any call of a context that guesses tokens for another one (see `speculative`).
    Draft,
    /// A trial run by the engine: the first call of a context, with at most two tokens, or its
    /// second call, with two tokens; the next call starts at position 0 again.
    WarmUp,
    /// A graph that takes no tokens: of an encoder of images or sound, or of another computation than
    /// text.
    Encode,
    /// The number of tokens is unknown, or a graph that takes tokens was computed outside of a call.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// How a phase was determined.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseBy {
    /// From the number of logits and tokens.
    Logits,
    /// From the positions of this call and the next one.
    Positions,
    /// From the order of the calls of two contexts.
    Contexts,
    /// From the number of tokens alone: one is decode, several are prefill. Used if the graph was
    /// not read completely, has no logits (embeddings), or computes logits for all tokens (engines
    /// before 2024-03). llama.cpp separates its own timings by the same rule
    /// (`llama_context::synchronize`: `n_queued_tokens == 1`). Verified drafts and parallel
    /// sequences then count as prefill.
    #[default]
    Tokens,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
