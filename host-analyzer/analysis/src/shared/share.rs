//! The tokens of a call by sequence.

use profinfer_trace::model::Model;

/// Most guesses of a sequence in a call. A longer part is of a text whose tokens all have an output.
pub(crate) const LONGEST_DRAFT: u32 = 64;

/// The tokens of one sequence in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequenceShare {
    /// `None` where the batch lists no sequences: then the call has a single one, as far as known.
    pub(crate) seq: Option<i32>,
    /// Position of the first token; `None` where unknown.
    pub(crate) pos: Option<u32>,
    pub(crate) n: u32,
    /// Tokens with an output; `None` where unknown.
    pub(crate) outputs: Option<u64>,
}

impl SequenceShare {
    /// Several tokens after others, each with an output: the last token of an answer, and guesses.
    pub(crate) fn may_verify(&self) -> bool {
        self.n > 1 && self.pos != Some(0) && self.outputs == Some(u64::from(self.n))
    }
}

/// The tokens of a call by sequence. `n_past` and `logits` are of the complete call.
pub(crate) fn shares(
    model: &Model,
    call: usize,
    n_past: Option<u32>,
    logits: Option<u64>,
) -> Vec<SequenceShare> {
    let parts = &model.parts;
    if !parts.has_sequences(call) {
        let n = model.llama_calls.n_tokens[call];
        return vec![SequenceShare { seq: None, pos: n_past, n, outputs: logits }];
    }
    let mut all: Vec<SequenceShare> = Vec::new();
    for i in parts.of_row(call) {
        let (n, outputs) = (parts.n[i], parts.outputs[i].map(u64::from));
        if let Some(of) = all.iter_mut().find(|of| of.seq == parts.seq[i]) {
            of.n = of.n.saturating_add(n);
            of.outputs = of.outputs.zip(outputs).map(|(a, b)| a.saturating_add(b));
            continue;
        }
        let pos = parts.pos[i].and_then(|pos| u32::try_from(pos).ok());
        all.push(SequenceShare { seq: parts.seq[i], pos, n, outputs });
    }
    all
}
