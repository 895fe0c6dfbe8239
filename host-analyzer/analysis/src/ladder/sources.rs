//! What the questions look at, and the calls that one covers.

use crate::replay::{CallReplay, Replay};
use crate::results::request::Request;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::Model;

/// What the questions look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) model: &'a Model,
    pub(super) phases: &'a Phases,
    pub(super) replay: &'a Replay,
    /// By first call.
    pub(super) requests: &'a [Request],
    /// By call: output tokens of those that verified guesses, as far as known.
    pub(super) emitted: &'a [Option<u32>],
}

impl Sources<'_> {
    /// Whether a process generates text.
    pub(super) fn generates(&self, pid: u32) -> bool {
        self.replay.calls.iter().any(|c| c.phase.generates() && pid_of(self.model, c) == pid)
    }
}

/// Calls of one question.
#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    pub(super) rows: Vec<&'a CallReplay>,
    /// The phases whose operators are those of the calls; none where they are mixed with others.
    pub(super) phases: Vec<Phase>,
    pub(super) units: u64,
    pub(super) traced_units: u64,
    /// Tokens that came out of these calls; 0 for other questions than that of tokens.
    pub(super) tokens: u64,
}

pub(super) fn pid_of(model: &Model, call: &CallReplay) -> u32 {
    model.threads.get(model.llama_calls.thread[call.call.0 as usize]).pid
}
