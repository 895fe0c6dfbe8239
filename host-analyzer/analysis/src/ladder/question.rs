//! The questions that a ladder answers, and the calls that each covers.

use std::collections::HashMap;

use super::sources::{Calls, Sources, pid_of};
use super::{between, first_token};
use crate::replay::CallReplay;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{DecodeFunction, Model};

/// A question about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Where the time of a decode token goes, sampling included.
    Decode,
    /// Where the time of a prompt goes.
    Prompt,
    /// Where the time until the first token of a request goes: the calls of its prompt, the time
    /// between them, and sampling.
    FirstToken,
    /// Where the time from the start of the program to its first call goes.
    StartUp,
    /// Where the time of a call of an encoder goes.
    Encode,
    /// Where the time between two calls of a context goes.
    BetweenCalls,
}

impl Question {
    pub const ALL: [Self; 6] =
        [Self::Decode, Self::Prompt, Self::FirstToken, Self::StartUp, Self::Encode, Self::BetweenCalls];

    /// Name in data.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Prompt => "prompt",
            Self::FirstToken => "first_token",
            Self::StartUp => "start_up",
            Self::Encode => "encode",
            Self::BetweenCalls => "between_calls",
        }
    }

    pub(super) fn calls<'a>(self, sources: &Sources<'a>, pid: u32) -> Calls<'a> {
        let Sources { model, phases, replay, .. } = *sources;
        let of = |phase: Phase| -> Vec<&'a CallReplay> {
            let own = |c: &&CallReplay| pid_of(model, c) == pid && !encodes(model, c);
            replay.phase(phase).filter(own).collect()
        };
        match self {
            Self::Decode => {
                let (single, several) = (of(Phase::Decode), of(Phase::BatchDecode));
                guesses(sources, (&single, &several), of(Phase::Draft))
                    .unwrap_or_else(|| decode(model, phases, single, several))
            }
            Self::Prompt => prompt(model, of(Phase::Prefill)),
            Self::FirstToken => first_token::calls(sources, pid),
            // It has no calls, see `super::start_up`.
            Self::StartUp => Calls { rows: Vec::new(), phases: Vec::new(), units: 0, traced_units: 0 },
            Self::Encode => encode(sources, pid),
            Self::BetweenCalls => between::calls(sources, pid),
        }
    }
}

fn encodes(model: &Model, call: &CallReplay) -> bool {
    model.llama_calls.function[call.call.0 as usize] == DecodeFunction::LlamaEncode
}

/// Calls of `llama_encode`. Embeddings that are computed by `llama_decode` are prompts.
fn encode<'a>(sources: &Sources<'a>, pid: u32) -> Calls<'a> {
    let Sources { model, replay, .. } = *sources;
    let rows: Vec<&CallReplay> =
        replay.calls.iter().filter(|c| pid_of(model, c) == pid && encodes(model, c)).collect();
    // The work of a phase is recorded per phase, for all of its calls.
    let alone = |phase: &Phase| {
        rows.iter().all(|c| c.phase == *phase) && replay.phase(*phase).all(|c| encodes(model, c))
    };
    let phase = rows.first().map(|c| c.phase).filter(alone);
    let traced_units = rows.iter().filter(|c| c.traced).count() as u64;
    Calls { units: rows.len() as u64, traced_units, rows, phases: phase.into_iter().collect() }
}

/// All calls of a process that guesses tokens and verifies them: single tokens, verifications, and the
/// draft's calls. The units are the tokens that came out. A verification whose outcome no later call
/// shows is left out, with its guesses: the last one of a request. `None` if it does not guess.
fn guesses<'a>(
    sources: &Sources<'a>,
    (single, several): (&[&'a CallReplay], &[&'a CallReplay]),
    draft: Vec<&'a CallReplay>,
) -> Option<Calls<'a>> {
    let calls = &sources.model.llama_calls;
    let came_out = |c: &CallReplay| match c.phase {
        Phase::Draft => 0,
        // A single token is no verification.
        _ => u64::from(sources.emitted[c.call.0 as usize].unwrap_or(1)),
    };
    let verifies = |c: &&CallReplay| sources.emitted[c.call.0 as usize].is_some();
    if draft.is_empty() && !several.iter().any(verifies) {
        return None;
    }
    let mut all = [single, several, &draft].concat();
    all.sort_by_key(|c| calls.start_ns[c.call.0 as usize]);
    // The first call warms up caches.
    let (mut rows, mut known): (Vec<&CallReplay>, usize) = (Vec::new(), 0);
    for c in all.into_iter().skip(1) {
        match c.phase {
            Phase::Draft => rows.push(c),
            Phase::BatchDecode if !verifies(&c) => rows.truncate(known),
            _ => {
                rows.push(c);
                known = rows.len();
            }
        }
    }
    rows.truncate(known);
    let units = rows.iter().map(|c| came_out(c)).sum();
    let traced_units = rows.iter().filter(|c| c.traced).map(|c| came_out(c)).sum();
    let phases = vec![Phase::Decode, Phase::BatchDecode, Phase::Draft];
    Some(Calls { rows, phases, units, traced_units })
}

/// Single tokens without the first one, which warms up caches; without any, the calls of several
/// sequences.
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
        return Calls { rows: several, phases: vec![Phase::BatchDecode], units, traced_units };
    }
    let rows: Vec<&CallReplay> = single.into_iter().skip(1).collect();
    let (units, traced_units) = (rows.len() as u64, rows.iter().filter(|c| c.traced).count() as u64);
    Calls { rows, phases: vec![Phase::Decode], units, traced_units }
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
    Calls { rows, phases: vec![Phase::Prefill], units, traced_units }
}
