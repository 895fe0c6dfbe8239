//! Parts of the batches of decode calls: the sequences and positions of their tokens.

use super::rows::rows;
use super::token::LlamaCallId;

/// Columns, one row per part: ordered by decode call, then index; no token of a batch twice. Calls
/// without rows have no recorded parts.
#[derive(Debug, Default, Clone)]
pub struct Parts {
    /// Decode call.
    pub decode: Vec<LlamaCallId>,
    /// Index of the first token in the batch, from 0.
    pub first: Vec<u32>,
    /// Tokens, at least one.
    pub n: Vec<u32>,
    /// The sequence of each token, or the first one of several; `None` when the batch has no list
    /// of sequences.
    pub seq: Vec<Option<i32>>,
    /// Sequences per token; 0 when the batch has no list of sequences.
    pub n_seq: Vec<u32>,
    /// Position of the first token; `None` when the batch has no positions.
    pub pos: Vec<Option<i32>>,
    /// All tokens have that position; otherwise positions rise by one.
    pub same: Vec<bool>,
    /// Tokens with a requested output; `None` when the batch has no list of outputs.
    pub outputs: Vec<Option<u32>>,
}

rows!(Parts, decode);

impl Parts {
    /// The rows of one decode call.
    #[must_use]
    pub fn of(&self, decode: LlamaCallId) -> std::ops::Range<usize> {
        let begin = self.decode.partition_point(|d| *d < decode);
        let end = begin + self.decode.get(begin..).unwrap_or(&[]).partition_point(|d| *d == decode);
        begin..end
    }

    /// The same by the row of the call in `llama_calls`.
    #[must_use]
    pub fn of_row(&self, call: usize) -> std::ops::Range<usize> {
        u32::try_from(call).map_or(0..0, |call| self.of(LlamaCallId(call)))
    }

    /// Whether the batch of a call, by its row, lists sequences.
    #[must_use]
    pub fn has_sequences(&self, call: usize) -> bool {
        self.seq[self.of_row(call)].iter().any(Option::is_some)
    }
}
