//! Later parts of a text that its outputs do not show.
//!
//! A text that is scored has an output for each token, as an answer with guesses has: no engine guesses as many
//! tokens. The rest of a prompt may be one token: it follows a part without an output, so no answer has begun.

use std::collections::HashMap;

use crate::shared::context::Context;
use crate::shared::share::{LONGEST_DRAFT, SequenceShare, shares};
use profinfer_trace::model::Model;

/// By row of `llama_calls`.
pub(super) fn later(model: &Model, contexts: &[Context], logits: &[Option<u64>]) -> Vec<bool> {
    let d = &model.llama_calls;
    let mut found = vec![false; d.len()];
    // Next position of each sequence whose last part had no output.
    let mut unanswered: HashMap<(u32, u64, Option<i32>), u32> = HashMap::new();
    for i in (0..d.len()).filter(|i| d.status[*i] == 0 && d.n_tokens[*i] > 0) {
        let (pid, context) = (model.threads.get(d.thread[i]).pid, d.context[i]);
        let shares = shares(model, i, contexts[i].n_past, logits[i]);
        let mut rest = false;
        for share in &shares {
            let key = (pid, context, share.seq);
            let next = unanswered.remove(&key);
            rest |= share.n == 1 && next.is_some() && next == share.pos;
            if let (Some(pos), Some(0)) = (share.pos, share.outputs) {
                unanswered.insert(key, pos.saturating_add(share.n));
            }
        }
        found[i] = rest && shares.len() == 1 || shares.iter().all(is_text);
    }
    found
}

/// Where a batch lists no sequences, its tokens may be of many.
fn is_text(share: &SequenceShare) -> bool {
    share.seq.is_some() && share.n > LONGEST_DRAFT && share.outputs == Some(u64::from(share.n))
}
