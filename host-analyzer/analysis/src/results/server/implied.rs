//! Batches without a list of sequences, and batches that could not be read: the graph's input has the
//! position of the first token.
//!
//! Such a batch has one sequence, unless several of its tokens have an output and none of them is a
//! guess: then it may be of several sequences, and the requests of its context are unknown. A call
//! without a position is one whose batch was lost.

use std::collections::HashMap;

use super::slot::SequencePart;
use crate::results::speculative::emitted;
use crate::shared::phase::{Phase, Phases, Role};
use profinfer_trace::model::Model;

/// The next call of a context.
struct Behind {
    /// Its first position.
    pos: i64,
    /// It has several tokens, and none is a guess.
    part_of_prompt: bool,
}

/// By row of `llama_calls`: the part that its batch consists of. `None` if the batch has sequences, or
/// its position is unknown.
pub(super) fn parts(model: &Model, phases: &Phases) -> Vec<Option<SequencePart>> {
    let d = &model.llama_calls;
    let emitted = emitted(model, phases);
    let mut all = vec![None; d.len()];
    let mut behind: HashMap<(u32, u64), Behind> = HashMap::new();
    let mut unknown: Vec<(u32, u64)> = Vec::new();
    for i in (0..d.len()).rev().filter(|i| d.status[*i] == 0 && d.n_tokens[*i] > 0) {
        let context = (model.threads.get(d.thread[i]).pid, d.context[i]);
        let guesses = phases.roles[i] == Role::Verify || emitted[i].is_some() || phases.replays[i];
        if model.parts.has_sequences(i) || phases.llama_calls[i] == Phase::BatchDecode && !guesses {
            unknown.push(context);
        }
        let Some(pos) = phases.contexts[i].n_past.map(i64::from) else { continue };
        let n = u64::from(d.n_tokens[i]);
        let next = pos + i64::from(d.n_tokens[i]);
        let part_of_prompt = n > 1 && !guesses;
        let goes_on = behind.insert(context, Behind { pos, part_of_prompt });
        let goes_on = goes_on.is_some_and(|b| b.part_of_prompt && b.pos == next);
        let outputs = match phases.logits[i] {
            // Without a list of outputs, the engine gives one for the last token of every batch, also
            // for that of a part of a prompt.
            None | Some(1) => u64::from(n == 1 || !goes_on),
            Some(outputs) => outputs,
        };
        all[i] = Some(SequencePart { pos, next, n, outputs, same: false });
    }
    for (i, part) in all.iter_mut().enumerate() {
        if unknown.contains(&(model.threads.get(d.thread[i]).pid, d.context[i])) {
            *part = None;
        }
    }
    all
}
