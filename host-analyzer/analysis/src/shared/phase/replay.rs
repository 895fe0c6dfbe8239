//! Calls that compute accepted guesses again. A recurrent state cannot be cut back: after a rejected guess
//! the engine restores an earlier state, and decodes the accepted tokens a second time, at the position
//! where the verification began. A verification gives at least one token, so no other call begins there.

use std::collections::HashMap;

use crate::shared::context::Context;
use profinfer_trace::model::Model;

/// By row of `llama_calls`.
pub(super) fn replays(model: &Model, contexts: &[Context], logits: &[Option<u64>]) -> Vec<bool> {
    let d = &model.llama_calls;
    let mut found = vec![false; d.len()];
    // Position and tokens of the last verification of each context, until another call follows.
    let mut verified: HashMap<(u32, u64), (u32, u32)> = HashMap::new();
    for i in (0..d.len()).filter(|i| d.status[*i] == 0) {
        let key = (model.threads.get(d.thread[i]).pid, d.context[i]);
        let (Some(pos), n) = (contexts[i].n_past, d.n_tokens[i]) else { continue };
        let several = model.parts.of_row(i).len() > 1;
        let before = verified.remove(&key);
        found[i] = !several && before.is_some_and(|(at, guessed)| pos == at && n <= guessed);
        if pos > 0 && n > 1 && logits[i] == Some(u64::from(n)) && !several {
            verified.insert(key, (pos, n));
        }
    }
    found
}
