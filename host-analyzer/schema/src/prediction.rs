//! `predict.json`: the speed of a model that was not run on a board.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::Top;

/// `predict.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Schema version.
    pub schema: u32,
    /// True until this version is released. Fields of a draft may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// `predicted`, `bracket`, or why nothing is predicted: `split_file`, `no_language_model`,
    /// `not_causal`, `encoder_decoder`, `experts_used_unknown`, `no_operators`, `different_machines`,
    /// `other_board`, `different_threads`, `different_clocks`, `other_backends` or `would_page`.
    pub code: String,
    /// File of the model.
    pub model: String,
    /// Recordings that it is predicted from, or the file with ceilings.
    pub recordings: Vec<String>,
    /// What the terminal prints first.
    pub words: Vec<String>,
    /// Threads of the recordings, or of the ceilings.
    pub threads: Option<u64>,
    /// The model, by its file.
    pub census: Option<Census>,
    /// Predicted decode speed.
    pub decode: Option<SpeedRange>,
    /// Between two decode calls, ns: what the application does with a token.
    pub gap_ns: Option<u64>,
    /// Decode speed with that gap.
    pub seen_tokens_per_s: Option<f64>,
    /// Predicted speed of a prompt, for each of its tokens; `null` where no recording has prompts of 16
    /// tokens.
    pub prefill: Option<SpeedRange>,
    /// Of a bracket, the read ceiling for the bytes that a token reads.
    pub read: Option<Top>,
    /// Tokens of that prompt.
    pub prompt_tokens: Option<u64>,
    /// Products by data type.
    pub types: Vec<TypeShare>,
    /// Parts of a decode call.
    pub parts: Option<PredictedParts>,
    /// What simpler formulas say.
    pub others: Option<OtherPredictions>,
    /// Each recording, predicted from the others. Errors are shares of the predicted time, positive
    /// where the run was slower.
    pub left_out: Vec<LeftOutRun>,
}

/// A model, by its file. `matrix_bytes`, `vector_bytes` and `embedding_bytes` sum to `weight_bytes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Census {
    /// Architecture.
    pub architecture: String,
    /// Layers.
    pub layers: u64,
    /// Parameters.
    pub parameters: u64,
    /// Size of the file, bytes.
    pub file_bytes: u64,
    /// Weights, bytes.
    pub weight_bytes: u64,
    /// Matrices, bytes.
    pub matrix_bytes: u64,
    /// Vectors, bytes.
    pub vector_bytes: u64,
    /// Embeddings, bytes.
    pub embedding_bytes: u64,
    /// Bytes of the tables in the file of which a token reads rows only: embeddings that are not the output,
    /// tables per layer, positions. Their other pages need no memory.
    #[serde(default)]
    pub table_bytes: u64,
    /// The output layer uses the embeddings.
    pub tied: bool,
    /// Experts of a layer; 0 without routers.
    pub experts: u64,
    /// Experts used per token.
    pub experts_used: u64,
    /// Cells of the KV cache.
    pub cells: u64,
    /// The KV cache, bytes.
    pub cache_bytes: u64,
    /// It has a recurrent state.
    pub recurrent: bool,
}

/// A speed with its interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedRange {
    /// Tokens per second; `null` of a bracket.
    pub tokens_per_s: Option<f64>,
    /// Low end of the interval.
    pub low_tokens_per_s: f64,
    /// High end of the interval.
    pub high_tokens_per_s: f64,
    /// Time of a token, ns; `null` of a bracket.
    pub token_ns: Option<u64>,
    /// `left_out` (95 %: the recordings, each predicted from the others), `few_recordings` (an
    /// assumption) or `ceilings` (a bracket).
    pub interval: String,
    /// Predictions that the interval is of.
    pub predictions: u64,
    /// The model has products of a kind that no recording has.
    pub unseen: bool,
    /// Part of the names of weights that the recording has from which operators without weights are
    /// taken.
    pub alike: Option<f64>,
}

/// Products of one data type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeShare {
    /// Data type.
    pub dtype: String,
    /// Products.
    pub products: u64,
    /// Their weights, bytes.
    pub bytes: u64,
    /// Predicted time, ns.
    pub ns: u64,
    /// Low end, ns.
    pub low_ns: u64,
    /// High end, ns.
    pub high_ns: u64,
    /// Bytes per second that this comes to.
    pub bytes_per_s: f64,
    /// A recording has products of this type.
    pub seen: bool,
}

/// Parts of a decode call, which sum to its time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedParts {
    /// Products with weights, ns.
    pub products_ns: u64,
    /// Attention, ns.
    pub attention_ns: u64,
    /// Other operators, ns.
    pub others_ns: u64,
    /// Between operators, ns.
    pub between_ns: u64,
    /// Operators that are executed.
    pub nodes: f64,
}

/// What simpler formulas say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherPredictions {
    /// From bytes and one rate.
    pub one_parameter_tokens_per_s: Option<f64>,
    /// As llmfit does it.
    pub llmfit_tokens_per_s: f64,
    /// As gguf-parser does it.
    pub gguf_parser_tokens_per_s: Option<f64>,
}

/// A recording, predicted from the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutRun {
    /// The recording.
    pub recording: Option<String>,
    /// Error of the decode speed.
    pub decode_error: Option<f64>,
    /// Error of the prompt's speed.
    pub prefill_error: Option<f64>,
    /// Error of the decode speed by one rate.
    pub one_parameter_error: Option<f64>,
    /// It has products of a kind that no other recording has.
    pub unseen: bool,
}
