//! The calls that the rules judge: those of one question of the ladder.

use std::collections::HashMap;

use crate::Analysis;
use crate::ladder::{Ladder, Question};
use crate::results::budget::TokenBudget;
use crate::stats::mean::Mean;
use profinfer_trace::model::Model;

/// Fewest calls for any verdict.
pub(in crate::findings) const MIN_CALLS: u64 = 16;

/// Fewest calls with operators for a verdict from operators: a burst of a default recording.
pub(in crate::findings) const MIN_TRACED: u64 = 8;

/// Calls of a question, of the process that the rules judge.
#[derive(Debug)]
pub(in crate::findings) struct Calls<'a> {
    pub(in crate::findings) question: Question,
    /// In order.
    pub(in crate::findings) all: Vec<&'a TokenBudget>,
    /// The completely captured ones of `all`. Figures of operators cover these.
    pub(in crate::findings) traced: Vec<&'a TokenBudget>,
    /// Tokens that came out of `all`, prompts, or calls of an encoder.
    pub(in crate::findings) units: u64,
    traced_units: u64,
    /// Mean time of a unit, ns; 0 without calls.
    pub(in crate::findings) unit_ns: u64,
}

/// What a session is about: text that it generates, text that it reads, or what an encoder reads.
const QUESTIONS: [Question; 3] = [Question::Decode, Question::Prompt, Question::Encode];

impl<'a> Calls<'a> {
    /// The calls of the first question that has enough of them; if none has, of the first one with any.
    pub(super) fn compute(analysis: &'a Analysis, pid: u32) -> Self {
        let of = |question| analysis.ladder.rows.iter().find(|l| l.pid == pid && l.question == question);
        let ladders: Vec<&Ladder> = QUESTIONS.into_iter().filter_map(of).collect();
        let enough = ladders.iter().find(|l| l.calls.len() as u64 >= MIN_CALLS);
        let Some(ladder) = enough.or(ladders.first()) else { return Self::none() };
        let budgets: HashMap<u32, &TokenBudget> =
            analysis.budget.tokens.iter().map(|t| (t.call, t)).collect();
        let all: Vec<_> = ladder.calls.iter().filter_map(|c| budgets.get(&c.0).copied()).collect();
        Self {
            question: ladder.question,
            traced: all.iter().copied().filter(|t| t.traced).collect(),
            all,
            units: ladder.units,
            traced_units: ladder.traced_units,
            unit_ns: ladder.unit_ns(),
        }
    }

    const fn none() -> Self {
        let question = Question::Decode;
        Self { question, all: Vec::new(), traced: Vec::new(), units: 0, traced_units: 0, unit_ns: 0 }
    }

    pub(in crate::findings) fn number(&self) -> u64 {
        self.all.len() as u64
    }

    /// The operators of some calls are unknown.
    pub(in crate::findings) fn partial(&self) -> bool {
        self.traced.len() < self.all.len()
    }

    /// A mean per call of all calls as one per unit.
    pub(in crate::findings) fn per_unit(&self, mean: Mean) -> Mean {
        mean.times(self.all.len() as f64 / self.units.max(1) as f64)
    }

    /// The same of a mean per captured call.
    pub(in crate::findings) fn per_traced_unit(&self, mean: Mean) -> Mean {
        mean.times(self.traced.len() as f64 / self.traced_units.max(1) as f64)
    }

    /// Units with known operators.
    pub(in crate::findings) fn traced_units(&self) -> f64 {
        self.traced_units.max(1) as f64
    }

    /// Times that can be compared from call to call, ns: of calls that read text, those per token, times the
    /// mean number of tokens.
    pub(in crate::findings) fn comparable(&self, model: &Model) -> Vec<u64> {
        let tokens = |t: &TokenBudget| u64::from(model.llama_calls.n_tokens[t.call as usize].max(1));
        if self.question != Question::Prompt {
            return self.all.iter().map(|t| t.time_ns).collect();
        }
        let mean = self.all.iter().map(|t| tokens(t)).sum::<u64>() as f64 / self.all.len().max(1) as f64;
        self.all.iter().map(|t| (t.time_ns as f64 * mean / tokens(t) as f64) as u64).collect()
    }

    /// The times in which the calls ran, ns of the session's clock: disjoint and in order.
    pub(in crate::findings) fn times(&self, model: &Model) -> Vec<(u64, u64)> {
        let start = model.session.start_ns;
        let mut times: Vec<(u64, u64)> = Vec::new();
        for call in &self.all {
            let from = start.saturating_add(call.start_ns);
            let to = from.saturating_add(call.time_ns);
            match times.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => times.push((from, to)),
            }
        }
        times
    }
}
