//! Composition of batches: tokens of prompts, and tokens that continue an answer.

use std::collections::BTreeMap;

/// The calls with the same number of sequences in their batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Batches {
    /// Sequences in the batch.
    pub sequences: u32,
    pub calls: u64,
    /// Calls with tokens of both prompts and answers: the answers wait for the prompts.
    pub mixed_calls: u64,
    /// Time of the calls, ns.
    pub time_ns: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens that continue an answer, including draft tokens.
    pub answer_tokens: u64,
}

/// Compositions by number of sequences.
#[derive(Debug, Clone, Default)]
pub(super) struct Composition(BTreeMap<u32, Batches>);

impl Composition {
    pub(super) fn add(&mut self, sequences: u32, prompt: u64, answer: u64, time_ns: u64) {
        let b = self.0.entry(sequences).or_insert(Batches { sequences, ..Batches::default() });
        b.calls += 1;
        b.mixed_calls += u64::from(prompt > 0 && answer > 0);
        b.time_ns = b.time_ns.saturating_add(time_ns);
        b.prompt_tokens = b.prompt_tokens.saturating_add(prompt);
        b.answer_tokens = b.answer_tokens.saturating_add(answer);
    }

    pub(super) fn close(self) -> Vec<Batches> {
        self.0.into_values().collect()
    }
}
