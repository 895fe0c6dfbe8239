//! Phases of decode calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call was for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A prompt is read: logits for fewer tokens than it has.
    Prefill,
    /// One token: the answer is written.
    Decode,
    /// Several tokens behind others, each with logits: parallel sequences are continued, or a draft
    /// is verified.
    BatchDecode,
    /// A call of a draft model, which guesses for a target.
    Draft,
    /// A trial of the engine's own, before its first prompt.
    WarmUp,
    /// The number of tokens is not known, or a graph ran outside of a token call.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// What a phase was told by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseBy {
    /// Rows of logits against tokens.
    Logits,
    /// The positions of this call and of the next one.
    Positions,
    /// The order of the calls of two contexts.
    Contexts,
    /// The number of tokens alone: a verified draft, or parallel sequences, would be called
    /// prefill.
    #[default]
    Tokens,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
