//! How many outputs of each call the engine took. A call whose outputs nobody takes gave no token: it was a part of
//! a prompt, or one more than a program uses. Of a call with guesses, the engine takes the outputs up to the first
//! guess that it rejects.

use std::collections::HashMap;

use profinfer_trace::model::{DecodeFunction, EndReason, Model};

/// The calls of one context.
#[derive(Default)]
struct Context {
    any: bool,
    /// Calls of one token, of which outputs were taken, and were not.
    ones: [usize; 2],
    last: usize,
}

impl Context {
    /// Whether the functions that take outputs show all that are taken. A benchmark takes none, and where a
    /// compiler merged these functions into their callers, some or all are not seen: then most calls of one
    /// token, which generate text, seem to be without effect.
    const fn shows(&self) -> bool {
        self.any && self.ones[1] <= self.ones[0]
    }
}

/// By row of `llama_calls`; `None` where it is not known.
pub(crate) fn taken(model: &Model) -> Vec<Option<u32>> {
    let d = &model.llama_calls;
    let mut taken = vec![0; d.len()];
    for (id, outputs) in &model.taken {
        taken[id.0 as usize] = *outputs;
    }
    let key = |i: usize| (model.threads.get(d.thread[i]).pid, d.context[i]);
    // The outputs of an encoder are for its decoder.
    let rows = || (0..d.len()).filter(|i| d.status[*i] == 0 && d.function[*i] != DecodeFunction::LlamaEncode);
    let mut contexts: HashMap<(u32, u64), Context> = HashMap::new();
    for i in rows() {
        let context = contexts.entry(key(i)).or_default();
        context.any |= taken[i] > 0;
        if d.n_tokens[i] == 1 {
            context.ones[usize::from(taken[i] == 0)] += 1;
        }
        context.last = i;
    }
    // A session that ends before its engine may end between a call and its sampling.
    let ended = model.health.end.is_some_and(|end| end.reason == EndReason::EngineEnded);
    let mut all = vec![None; d.len()];
    for i in rows() {
        let known = contexts.get(&key(i)).is_some_and(|c| c.shows() && (i != c.last || ended));
        all[i] = Some(taken[i]).filter(|n| *n > 0 || known);
    }
    all
}
