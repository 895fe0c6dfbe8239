//! Parts of the batches of token calls: which sequences their tokens belong to, at which positions.

use super::rows::rows;
use super::token::LlamaCallId;

/// Columns, one row a part: ordered by token call, then place; no token of a batch twice. Calls without rows tell nothing of their batch.
#[derive(Debug, Default, Clone)]
pub struct Parts {
    /// Token call.
    pub decode: Vec<LlamaCallId>,
    /// Place of the first token in the batch, from 0.
    pub first: Vec<u32>,
    /// Tokens, at least one.
    pub n: Vec<u32>,
    /// The sequence of each token, the first one where it has several; `None` when the batch does not say.
    pub seq: Vec<Option<i32>>,
    /// Sequences of each token; 0 when the batch does not say.
    pub n_seq: Vec<u32>,
    /// Position of the first token; `None` when the batch does not say.
    pub pos: Vec<Option<i32>>,
    /// All tokens have that position; else each has one more than the one before.
    pub same: Vec<bool>,
    /// Tokens of which an output is asked for; `None` when the batch does not say.
    pub outputs: Vec<Option<u32>>,
}

rows!(Parts, decode);

impl Parts {
    /// The rows of one token call.
    #[must_use]
    pub fn of(&self, decode: LlamaCallId) -> std::ops::Range<usize> {
        let begin = self.decode.partition_point(|d| *d < decode);
        let end = begin + self.decode.get(begin..).unwrap_or(&[]).partition_point(|d| *d == decode);
        begin..end
    }
}
