//! The questions that a ladder answers, and the calls that each covers.

use std::collections::HashMap;

use crate::replay::{CallReplay, Replay};
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::Model;

/// A question about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Where the time of a decode token goes, sampling included.
    Decode,
    /// Where the time of a prompt goes.
    Prompt,
}

/// Calls of one question.
#[derive(Debug)]
pub(super) struct Calls<'a> {
    pub(super) rows: Vec<&'a CallReplay>,
    pub(super) phase: Phase,
    pub(super) units: u64,
    pub(super) traced_units: u64,
}

impl Question {
    pub const ALL: [Self; 2] = [Self::Decode, Self::Prompt];

    /// Name in data.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Prompt => "prompt",
        }
    }

    pub(super) fn calls<'a>(self, model: &Model, phases: &Phases, replay: &'a Replay, pid: u32) -> Calls<'a> {
        let of = |phase: Phase| -> Vec<&'a CallReplay> {
            let own =
                |c: &&CallReplay| model.threads.get(model.llama_calls.thread[c.call.0 as usize]).pid == pid;
            replay.phase(phase).filter(own).collect()
        };
        match self {
            Self::Decode => decode(model, phases, of(Phase::Decode), of(Phase::BatchDecode)),
            Self::Prompt => prompt(model, of(Phase::Prefill)),
        }
    }
}

/// Single tokens without the first one, which warms up caches; without any, the calls of several
/// sequences or of verified drafts.
fn decode<'a>(
    model: &Model,
    phases: &Phases,
    single: Vec<&'a CallReplay>,
    several: Vec<&'a CallReplay>,
) -> Calls<'a> {
    if several.len() > single.len() {
        let tokens = |rows: &[&CallReplay]| {
            let of = |c: &&CallReplay| {
                let call = c.call.0 as usize;
                phases.logits[call].unwrap_or_else(|| u64::from(model.llama_calls.n_tokens[call]))
            };
            rows.iter().map(of).sum::<u64>()
        };
        let traced: Vec<&CallReplay> = several.iter().copied().filter(|c| c.traced).collect();
        let (units, traced_units) = (tokens(&several), tokens(&traced));
        return Calls { rows: several, phase: Phase::BatchDecode, units, traced_units };
    }
    let rows: Vec<&CallReplay> = single.into_iter().skip(1).collect();
    let (units, traced_units) = (rows.len() as u64, rows.iter().filter(|c| c.traced).count() as u64);
    Calls { rows, phase: Phase::Decode, units, traced_units }
}

/// Prompts: runs of prefill calls of a context between other calls of it.
fn prompt<'a>(model: &Model, rows: Vec<&'a CallReplay>) -> Calls<'a> {
    let calls = &model.llama_calls;
    let mut last_call: HashMap<u64, usize> = HashMap::new();
    let mut prefill = vec![false; calls.len()];
    rows.iter().for_each(|c| prefill[c.call.0 as usize] = true);
    let (mut units, mut traced_units) = (0, 0);
    let traced: HashMap<usize, bool> = rows.iter().map(|c| (c.call.0 as usize, c.traced)).collect();
    for i in 0..calls.len() {
        let before = last_call.insert(calls.context[i], i);
        if prefill[i] && !before.is_some_and(|b| prefill[b]) {
            units += 1;
            traced_units += u64::from(traced.get(&i).copied().unwrap_or(false));
        }
    }
    Calls { rows, phase: Phase::Prefill, units, traced_units }
}
