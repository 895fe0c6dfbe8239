//! Text of programs without a token level that compute logits for all tokens and show no positions, as
//! whisper.cpp does: a prompt of several tokens looks like a step of several hypotheses (a beam search).
//!
//! The first text after a graph without tokens (an encoder) is a prompt. Hypotheses only end, so a call with
//! more tokens than the one before is a prompt too, except directly after a prompt.

use std::collections::HashMap;

use super::{Phase, logits};
use crate::shared::context::Context;
use profinfer_trace::model::{DecodeFunction, Model};

/// What the text graphs of a process did last.
#[derive(Clone, Copy)]
enum Last {
    Encoded,
    Prompt,
    /// A step with this many hypotheses.
    Step(u32),
}

/// By row of `llama_calls`; `None` for calls of other kinds.
pub(super) fn phases(model: &Model, contexts: &[Context]) -> Vec<Option<Phase>> {
    let d = &model.llama_calls;
    let all_tokens = logits::of_all_tokens(model);
    let mut found = vec![None; d.len()];
    let mut last: HashMap<u32, Last> = HashMap::new();
    for i in (0..d.len()).filter(|i| d.function[*i] == DecodeFunction::Graph) {
        let pid = model.threads.get(d.thread[i]).pid;
        let n = d.n_tokens[i];
        if n == 0 {
            last.insert(pid, Last::Encoded);
            continue;
        }
        if !all_tokens[i] || contexts[i].n_past.is_some() {
            continue;
        }
        let is_prompt = match last.get(&pid) {
            Some(Last::Encoded) => true,
            Some(Last::Step(hypotheses)) => n > *hypotheses,
            Some(Last::Prompt) => false,
            None => n > 1,
        };
        found[i] = Some(match (is_prompt, n) {
            (true, _) => Phase::Prefill,
            (false, 1) => Phase::Decode,
            (false, _) => Phase::BatchDecode,
        });
        last.insert(pid, if is_prompt { Last::Prompt } else { Last::Step(n) });
    }
    found
}
