//! Rounds of processes that guess tokens, as units of a comparison.

use super::processes;
use super::question::Question;
use super::sources::Sources;
use crate::replay::Replay;
use crate::results::speculative::emitted;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{LlamaCallId, Model};

/// The calls until tokens come out: those of the draft, the verification, and the one that computes accepted
/// guesses again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    /// In order.
    pub(crate) calls: Vec<LlamaCallId>,
    /// The one with the output.
    pub(crate) target: LlamaCallId,
    /// Tokens that came out.
    pub(crate) tokens: u64,
}

/// The rounds of all processes that guess, with their single tokens; empty if none does.
pub(crate) fn rounds(model: &Model, phases: &Phases, replay: &Replay) -> Vec<Round> {
    let emitted = emitted(model, phases);
    let sources = Sources { model, phases, replay, requests: &[], emitted: &emitted };
    processes(model, replay).into_iter().flat_map(|pid| of_process(&sources, pid)).collect()
}

fn of_process(sources: &Sources<'_>, pid: u32) -> Vec<Round> {
    let calls = Question::Decode.calls(sources, pid);
    let mut rounds: Vec<Round> = Vec::new();
    if !calls.phases.contains(&Phase::Draft) {
        return rounds;
    }
    let mut open = Vec::new();
    for (row, tokens) in calls.rows.iter().zip(Question::Decode.units_of_rows(sources, &calls.rows)) {
        if let Some(last) = rounds.last_mut().filter(|_| sources.phases.replays[row.call.0 as usize]) {
            last.calls.push(row.call);
            continue;
        }
        open.push(row.call);
        if tokens > 0 {
            rounds.push(Round { calls: std::mem::take(&mut open), target: row.call, tokens });
        }
    }
    rounds
}
