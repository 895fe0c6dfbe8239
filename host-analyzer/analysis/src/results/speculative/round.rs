//! The rounds of speculative decoding: the draft predicts tokens, the target verifies them.

use crate::shared::phase::{Pair, Phase, Phases, Role};
use profinfer_trace::model::Model;

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Round {
    /// Row of the target's call.
    pub(super) call: usize,
    /// Draft tokens that it verified.
    pub(super) drafted: u32,
    /// Output tokens: the accepted draft tokens, and the target's own token after them. `None` when
    /// unknown.
    pub(super) emitted: Option<u32>,
    /// Output tokens that are no guesses: the target's own token, and one more where the engine verified
    /// the accepted guesses and that token again.
    pub(super) own: u32,
    /// Time of the draft's calls before it, ns.
    pub(super) draft_ns: u64,
    /// Time of the target's call, and of the one that computes its accepted tokens again, ns.
    pub(super) verify_ns: u64,
}

impl Round {
    /// The accepted guesses are computed again in a call. With outputs for all of its tokens it verifies them
    /// together with the target's own token, which it did not have before.
    fn replay(&mut self, model: &Model, phases: &Phases, call: usize) {
        let calls = &model.llama_calls;
        self.verify_ns = self.verify_ns.saturating_add(calls.duration_ns[call]);
        let n = calls.n_tokens[call];
        self.own += u32::from(n > 1 && phases.logits[call] == Some(u64::from(n)));
    }

    /// Accepted guesses; `None` if the outcome is unknown.
    pub(super) fn accepted(&self) -> Option<u32> {
        Some(self.emitted?.saturating_sub(self.own))
    }
}

/// The rounds of a pair, by start.
///
/// The next call of the target shows the outcome of a round. It begins after the accepted tokens,
/// so the difference of both positions is the number of output tokens. The last round before
/// another prompt, and the last of a session, have no such call. A call of one token after draft
/// calls is a round too: no draft token was good enough to be verified.
pub(super) fn rounds(model: &Model, phases: &Phases, pair: &Pair) -> Vec<Round> {
    let (d, contexts) = (&model.llama_calls, &phases.contexts);
    let mut found: Vec<Round> = Vec::new();
    let (mut draft_calls, mut draft_ns) = (0_u32, 0_u64);
    let mut open = false;
    for i in (0..d.len()).filter(|i| d.status[*i] == 0 && phases.llama_calls[*i] != Phase::WarmUp) {
        if model.threads.get(d.thread[i]).pid != pair.pid {
            continue;
        }
        if d.context[i] == pair.draft {
            // At position 0 it reads the prompt, which is not drafting.
            if contexts[i].n_past != Some(0) {
                draft_calls += 1;
                draft_ns = draft_ns.saturating_add(d.duration_ns[i]);
            }
        } else if d.context[i] == pair.target && phases.replays[i] {
            if let Some(last) = found.last_mut() {
                last.replay(model, phases, i);
            }
        } else if d.context[i] == pair.target {
            let generates = phases.roles[i] == Role::Verify || d.n_tokens[i] == 1;
            if let (true, true, Some(last)) = (open, generates, found.last_mut()) {
                last.emitted = emitted(contexts[last.call].n_past, contexts[i].n_past, last.drafted);
            }
            open = generates && draft_calls > 0;
            if open {
                found.push(Round {
                    call: i,
                    drafted: d.n_tokens[i].saturating_sub(1),
                    emitted: None,
                    own: 1,
                    draft_ns,
                    verify_ns: d.duration_ns[i],
                });
            }
            (draft_calls, draft_ns) = (0, 0);
        }
    }
    found
}

/// The rounds of a context that guesses tokens without a draft model, for example from n-grams of
/// its text; empty if it does not. Calls of parallel sequences have several tokens too, but each
/// sequence goes on by one token.
pub(super) fn without_draft(model: &Model, phases: &Phases, (pid, context): (u32, u64)) -> Vec<Round> {
    let (d, contexts) = (&model.llama_calls, &phases.contexts);
    let mut found: Vec<Round> = Vec::new();
    let mut open = false;
    let own = |i: &usize| d.context[*i] == context && model.threads.get(d.thread[*i]).pid == pid;
    for i in (0..d.len()).filter(own).filter(|i| d.status[*i] == 0) {
        if phases.replays[i] {
            if let Some(last) = found.last_mut() {
                last.replay(model, phases, i);
            }
            continue;
        }
        if let (true, Some(last)) = (open, found.last_mut()) {
            last.emitted = emitted(contexts[last.call].n_past, contexts[i].n_past, last.drafted);
        }
        open = phases.llama_calls[i] == Phase::BatchDecode;
        if open {
            let drafted = d.n_tokens[i].saturating_sub(1);
            let verify_ns = d.duration_ns[i];
            found.push(Round { call: i, drafted, emitted: None, own: 1, draft_ns: 0, verify_ns });
        }
    }
    let hits = found.iter().filter(|r| r.emitted.is_some_and(|n| n > 1)).count();
    let known = found.iter().filter(|r| r.emitted.is_some()).count();
    if hits >= FEWEST_HITS && (known + 1) * 10 >= found.len() * 9 { found } else { Vec::new() }
}

/// Fewest rounds with an accepted guess: one may be the end of a sequence.
const FEWEST_HITS: usize = 2;

fn emitted(n_past: Option<u32>, next: Option<u32>, drafted: u32) -> Option<u32> {
    next?.checked_sub(n_past?).filter(|n| (1..=drafted.saturating_add(1)).contains(n))
}
