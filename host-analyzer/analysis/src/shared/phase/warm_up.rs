//! Trial calls of the engine, before its first prompt.
//!
//! llama.cpp warms up each context with the tokens for the beginning and the end of a text (two
//! tokens where the model has both), and then clears the cache. Where sequences must be cut, as for
//! a draft, it also tries that with two more tokens.
//!
//! A model with an encoder reads them with that, and then decodes one token.
//!
//! So a trial is a context's first call, with at most two tokens, or its second call, with two
//! tokens or after an encoder, if the next call starts at position 0 again. Where batches have sequences, also if no call
//! follows: nobody asked for anything.
//!
//! A program may try a batch of its own after that: a text without any output, after which it clears the cache.

use std::collections::HashMap;

use crate::shared::context::Context;
use crate::shared::edit::Edits;
use profinfer_trace::model::{DecodeFunction, Model};

/// A program's own trial is one of this many first calls of a context.
const OWN_TRIALS: u32 = 3;

/// By row of `llama_calls`.
pub(super) fn warm_ups(model: &Model, contexts: &[Context]) -> Vec<bool> {
    let d = &model.llama_calls;
    let mut found = vec![false; d.len()];
    let edits = Edits::compute(model);
    // A trial call has no effect.
    let unused = |i: usize| {
        let mut rows = model.parts.of_row(i);
        !rows.is_empty() && rows.all(|row| model.parts.outputs[row] == Some(0)) && edits.cleared(i)
    };
    // The first calls of each context of each process, as long as they may be trials.
    let mut first: HashMap<(u32, u64), (Option<usize>, u32)> = HashMap::new();
    for i in (0..d.len()).filter(|i| d.status[*i] == 0) {
        let key = (model.threads.get(d.thread[i]).pid, d.context[i]);
        let (candidate, seen) = first.entry(key).or_default();
        let begins = contexts[i].n_past == Some(0);
        let before = candidate.take();
        let behind_trial = before.is_some_and(|before| {
            found[before] = begins;
            begins
        });
        let encoded = before.is_some_and(|before| d.function[before] == DecodeFunction::LlamaEncode);
        if *seen < OWN_TRIALS && begins && unused(i) {
            found[i] = true;
        }
        let trial = match *seen {
            0 => (1..=2).contains(&d.n_tokens[i]),
            1 => behind_trial && (d.n_tokens[i] == 2 || encoded && d.n_tokens[i] == 1),
            _ => false,
        };
        *candidate = (trial && begins).then_some(i);
        *seen += 1;
    }
    let recorded = |i: &usize| model.parts.has_sequences(*i);
    for last in first.into_values().filter_map(|(candidate, _)| candidate).filter(recorded) {
        found[last] = true;
    }
    found
}
