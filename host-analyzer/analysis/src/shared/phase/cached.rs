//! Prompts that are cached except for their last token: the call reads one token at a position that its
//! sequence already had. It looks like a decode token, but it begins a request.
//!
//! Positions also go back when guesses are rejected and when a full context is shifted.

use std::collections::HashMap;

use crate::shared::context::Context;
use crate::shared::shift::shifts;
use profinfer_trace::model::Model;

/// By row of `llama_calls`.
pub(super) fn begin_with_one_token(model: &Model, contexts: &[Context], logits: &[Option<u64>]) -> Vec<bool> {
    let d = &model.llama_calls;
    let shifts = shifts(model);
    let mut found = vec![false; d.len()];
    // Next position of each sequence, and whether its last call may have had guesses.
    let mut behind: HashMap<(u32, u64, Option<i32>), (u32, bool)> = HashMap::new();
    for i in (0..d.len()).filter(|i| d.status[*i] == 0) {
        let Some(pos) = contexts[i].n_past else { continue };
        let rows = model.parts.of_row(i);
        // Calls of several sequences have answers of others in them.
        let several = rows.len() > 1;
        let seq = rows.into_iter().next().and_then(|row| model.parts.seq[row]);
        let key = (model.threads.get(d.thread[i]).pid, d.context[i], seq);
        let n = d.n_tokens[i];
        let maybe_guesses = n > 1 && logits[i].is_none_or(|outputs| outputs > 1);
        let before = behind.insert(key, (pos.saturating_add(n), maybe_guesses));
        found[i] = n == 1
            && !several
            && !shifts[i]
            && pos > 0
            && before.is_some_and(|(next, maybe_guesses)| pos < next && !maybe_guesses);
    }
    found
}
