//! The questions that a ladder answers, and the calls that each covers.

use std::collections::HashMap;

use super::sources::{Calls, Sources, pid_of};
use super::{between, first_token};
use crate::replay::CallReplay;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{DecodeFunction, Model};

/// A question about time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Where the time of a decode token goes, sampling included; of a call with several sequences,
    /// the time in which each of them gets a token.
    #[default]
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

    /// Whether a call is one of the question in a process that makes no guesses.
    pub(crate) fn covers(self, model: &Model, phases: &Phases, call: &CallReplay) -> bool {
        match self {
            Self::Decode => call.phase == phases.decode && !encodes(model, call),
            Self::Prompt => call.phase == Phase::Prefill && !encodes(model, call),
            Self::Encode => encodes(model, call) && call.phase != Phase::WarmUp,
            Self::FirstToken | Self::StartUp | Self::BetweenCalls => false,
        }
    }

    pub(super) fn calls<'a>(self, sources: &Sources<'a>, pid: u32) -> Calls<'a> {
        let Sources { model, replay, .. } = *sources;
        let own = |c: &&CallReplay| pid_of(model, c) == pid;
        let of = |phase: Phase| -> Vec<&'a CallReplay> {
            replay.phase(phase).filter(own).filter(|c| !encodes(model, c)).collect()
        };
        let covered = || replay.calls.iter().filter(own).filter(|c| self.covers(model, sources.phases, c));
        // When a token begins is not known if the call before was not recorded.
        let first = replay.calls.iter().find(own).map(|c| c.call);
        let begun = |c: &&CallReplay| Some(c.call) != first;
        match self {
            Self::Decode => {
                let generated = [Phase::Decode, Phase::BatchDecode, Phase::Draft].map(of);
                guesses(sources, generated, begun).unwrap_or_else(|| {
                    self.all(sources, covered().filter(begun).collect(), vec![sources.phases.decode])
                })
            }
            Self::Prompt => self.all(sources, covered().collect(), vec![Phase::Prefill]),
            Self::FirstToken => first_token::calls(sources, pid),
            // It has no calls, see `super::start_up`.
            Self::StartUp => Calls::default(),
            Self::Encode => encode(sources, covered().collect()),
            Self::BetweenCalls => between::calls(sources, pid),
        }
    }

    fn all<'a>(self, sources: &Sources<'_>, rows: Vec<&'a CallReplay>, phases: Vec<Phase>) -> Calls<'a> {
        let of_rows = self.units_of_rows(sources, &rows);
        let units = of_rows.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        let traced = rows.iter().zip(&of_rows).filter(|(c, _)| c.traced);
        let traced_units = traced.fold(0, |sum: u64, (_, n)| sum.saturating_add(*n));
        let tokens = rows.iter().map(|c| self.tokens_of(sources, c)).fold(0, u64::saturating_add);
        Calls { rows, phases, units, traced_units, tokens }
    }

    /// Units that end or begin with each call, in the order of the calls. Not for requests and starts.
    pub(super) fn units_of_rows(self, sources: &Sources<'_>, rows: &[&CallReplay]) -> Vec<u64> {
        match self {
            Self::Decode => rows.iter().map(|c| steps(sources, c)).collect(),
            Self::Prompt => prompts(sources, rows),
            Self::Encode => encoded(sources, rows),
            Self::FirstToken | Self::StartUp | Self::BetweenCalls => vec![1; rows.len()],
        }
    }

    /// Tokens that come out of a call, of all of its sequences.
    pub(super) fn tokens_of(self, sources: &Sources<'_>, call: &CallReplay) -> u64 {
        let row = call.call.0 as usize;
        match (self, call.phase, sources.emitted[row]) {
            _ if sources.phases.replays[row] => 0,
            (Self::Decode, Phase::BatchDecode, None) => sources.phases.logits[row]
                .unwrap_or_else(|| u64::from(sources.model.llama_calls.n_tokens[row])),
            (Self::Decode, ..) => steps(sources, call),
            _ => 0,
        }
    }
}

fn encodes(model: &Model, call: &CallReplay) -> bool {
    call.phase == Phase::Encode
        || model.llama_calls.function[call.call.0 as usize] == DecodeFunction::LlamaEncode
}

/// Calls of `llama_encode`, and graphs that take no tokens, of programs without a token level. Embeddings that
/// are computed by `llama_decode` are prompts.
fn encode<'a>(sources: &Sources<'_>, rows: Vec<&'a CallReplay>) -> Calls<'a> {
    let Sources { model, replay, .. } = *sources;
    // The work of a phase is recorded per phase, for all of its calls.
    let alone = |phase: &Phase| {
        rows.iter().all(|c| c.phase == *phase) && replay.phase(*phase).all(|c| encodes(model, c))
    };
    let phase = rows.first().map(|c| c.phase).filter(alone);
    Question::Encode.all(sources, rows, phase.into_iter().collect())
}

/// What an encoder reads in each call. An encoder may consist of several graphs: in a process that generates
/// text, those between two calls with tokens are one.
fn encoded(sources: &Sources<'_>, rows: &[&CallReplay]) -> Vec<u64> {
    let Sources { model, phases, .. } = *sources;
    let pid = |i: usize| model.threads.get(model.llama_calls.thread[i]).pid;
    let begins = |c: &&CallReplay| {
        let (row, pid_here) = (c.call.0 as usize, pid(c.call.0 as usize));
        if phases.llama_calls[row] != Phase::Encode || !sources.generates(pid_here) {
            return 1;
        }
        let before = (0..row).rev().find(|i| pid(*i) == pid_here);
        u64::from(before.is_none_or(|i| phases.llama_calls[i] != Phase::Encode))
    };
    rows.iter().map(begins).collect()
}

/// All calls of a process that guesses tokens and verifies them: single tokens, verifications, and the
/// draft's calls. The units are the tokens that came out. A verification whose outcome no later call
/// shows is left out, with its guesses: the last one of a request. `None` if it does not guess.
fn guesses<'a>(
    sources: &Sources<'a>,
    [single, several, draft]: [Vec<&'a CallReplay>; 3],
    begun: impl Fn(&&CallReplay) -> bool,
) -> Option<Calls<'a>> {
    let calls = &sources.model.llama_calls;
    let verifies = |c: &&CallReplay| sources.emitted[c.call.0 as usize].is_some();
    if draft.is_empty() && !several.iter().any(verifies) {
        return None;
    }
    let mut all = [single, several, draft].concat();
    all.sort_by_key(|c| calls.start_ns[c.call.0 as usize]);
    let (mut rows, mut known): (Vec<&CallReplay>, usize) = (Vec::new(), 0);
    for c in all.into_iter().filter(begun) {
        match c.phase {
            Phase::Draft => rows.push(c),
            _ if sources.phases.replays[c.call.0 as usize] => {
                // It belongs to the verification before it.
                if known == rows.len() {
                    rows.push(c);
                    known = rows.len();
                }
            }
            Phase::BatchDecode if !verifies(&c) => rows.truncate(known),
            _ => {
                rows.push(c);
                known = rows.len();
            }
        }
    }
    rows.truncate(known);
    Some(Question::Decode.all(sources, rows, vec![Phase::Decode, Phase::BatchDecode, Phase::Draft]))
}

/// Tokens by which a call of the decode ladder continues each of its sequences.
fn steps(sources: &Sources<'_>, call: &CallReplay) -> u64 {
    match (call.phase, sources.emitted[call.call.0 as usize]) {
        (Phase::Draft, _) => 0,
        _ if sources.phases.replays[call.call.0 as usize] => 0,
        (_, Some(n)) => u64::from(n),
        (_, None) => 1,
    }
}

/// Requests whose prompts begin in each call. Where requests are unknown, a prompt is a run of prefill
/// calls of a context between other calls of it.
fn prompts(sources: &Sources<'_>, rows: &[&CallReplay]) -> Vec<u64> {
    let of = |c: &&CallReplay| {
        let first = sources.requests.partition_point(|r| r.first_call < c.call.0);
        sources.requests[first..].iter().take_while(|r| r.first_call == c.call.0).count() as u64
    };
    let known: Vec<u64> = rows.iter().map(of).collect();
    if known.iter().any(|n| *n > 0) {
        return known;
    }
    let calls = &sources.model.llama_calls;
    let mut prefill = vec![false; calls.len()];
    rows.iter().for_each(|c| prefill[c.call.0 as usize] = true);
    let mut last_call: HashMap<u64, usize> = HashMap::new();
    let begins: Vec<bool> = (0..calls.len())
        .map(|i| {
            let before = last_call.insert(calls.context[i], i);
            prefill[i] && !before.is_some_and(|b| prefill[b])
        })
        .collect();
    rows.iter().map(|c| u64::from(begins[c.call.0 as usize])).collect()
}
