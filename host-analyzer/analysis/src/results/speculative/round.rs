//! The rounds of speculative decoding: the draft predicts tokens, the target verifies them.

use std::collections::HashMap;

use crate::shared::branches::root;
use crate::shared::edit::Edits;
use crate::shared::housekeeping::OfThreads;
use crate::shared::phase::{Pair, Phase, Phases, Role};
use crate::shared::share::{LONGEST_DRAFT, SequenceShare};
use profinfer_trace::model::Model;

/// The guesses of one sequence in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    /// The token before the guesses, and the guesses.
    share: SequenceShare,
    /// Output tokens: the accepted guesses, and the target's own token after them. `None` when unknown.
    emitted: Option<u32>,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Round {
    /// Row of the target's call.
    pub(super) call: usize,
    /// By sequence.
    pub(super) guesses: Vec<Guess>,
    /// The call has nothing else, such as a prompt of another sequence.
    pub(super) alone: bool,
    /// Its guesses are branches in several sequences, of which the longest one counts.
    pub(super) search: bool,
    /// Output tokens that are no guesses: the target's own token, and one more where the engine verified
    /// the accepted guesses and that token again.
    pub(super) own: u32,
    /// Time of the draft's calls before it, ns.
    pub(super) draft_ns: u64,
    /// Time of the target's call, ns.
    pub(super) verify_ns: u64,
    /// Time of the calls that compute its accepted tokens again, ns.
    pub(super) replay_ns: u64,
    /// Time of copies of states until the next tokens are verified or computed, ns; `None` if none follow.
    pub(super) copies_ns: Option<u64>,
}

impl Round {
    fn new(call: usize, (shares, search): (&[SequenceShare], bool), draft_ns: u64, verify_ns: u64) -> Self {
        let guesses: Vec<Guess> = shares
            .iter()
            .filter(|s| s.n == 1 || s.may_verify())
            .map(|s| Guess { share: *s, emitted: None })
            .collect();
        let alone = guesses.len() == shares.len();
        Self { call, alone, search, guesses, own: 1, draft_ns, verify_ns, replay_ns: 0, copies_ns: None }
    }

    /// Draft tokens that it verified.
    pub(super) fn drafted(&self) -> u32 {
        self.guesses.iter().map(Guess::drafted).fold(0, u32::saturating_add)
    }

    /// Output tokens of all sequences; `None` if the outcome of one is unknown.
    pub(super) fn emitted(&self) -> Option<u32> {
        self.guesses.iter().map(|g| g.emitted).try_fold(0, |sum: u32, n| sum.checked_add(n?))
    }

    /// The accepted guesses are computed again in a call. With outputs for all of its tokens it verifies them
    /// together with the target's own token, which it did not have before.
    fn replay(&mut self, model: &Model, phases: &Phases, call: usize) {
        let calls = &model.llama_calls;
        self.replay_ns = self.replay_ns.saturating_add(calls.duration_ns[call]);
        let n = calls.n_tokens[call];
        self.own += u32::from(n > 1 && phases.logits[call] == Some(u64::from(n)));
    }

    /// Guesses of each sequence, and how many of them were accepted, where the outcome is known.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.guesses.iter().filter_map(|g| Some((g.drafted(), g.emitted?.saturating_sub(self.own))))
    }
}

impl Guess {
    const fn drafted(&self) -> u32 {
        self.share.n.saturating_sub(1)
    }
}

/// The rounds of a context so far, and those whose outcome the next tokens of their sequence show.
#[derive(Default)]
struct Rounds {
    found: Vec<Round>,
    /// By sequence: round and guess.
    open: HashMap<Option<i32>, (usize, usize)>,
}

impl Rounds {
    /// The next tokens of some sequences. They begin after the accepted tokens, so the difference of both
    /// positions is the number of output tokens. A prompt shows nothing.
    fn next(&mut self, shares: &[SequenceShare]) {
        for share in shares {
            let goes_on = share.n == 1 || share.may_verify();
            let open = self.open.remove(&share.seq).filter(|_| goes_on);
            let guess = open.and_then(|(round, at)| self.found.get_mut(round)?.guesses.get_mut(at));
            if let Some(guess) = guess {
                guess.emitted = emitted(guess.share.pos, share.pos, guess.drafted());
            }
        }
    }

    fn add(&mut self, round: Round) {
        let at = self.found.len();
        self.open.extend(round.guesses.iter().enumerate().map(|(i, guess)| (guess.share.seq, (at, i))));
        self.found.push(round);
    }

    /// The rounds with what no call shows. The outcome of the last ones: the engine's removal of rejected guesses
    /// shows it, or the outputs that it took. And the copies of states of each.
    fn close(mut self, model: &Model, phases: &Phases, edits: &Edits) -> Vec<Round> {
        let copies = OfThreads::copies(model);
        for round in &mut self.found {
            round.copies_ns = copies_after(model, phases, &copies, round.call);
            let (call, only) = (round.call, round.alone && round.guesses.len() == 1);
            for guess in round.guesses.iter_mut().filter(|g| g.emitted.is_none()) {
                guess.emitted = edits.kept(call, &guess.share, only);
            }
        }
        self.found
    }
}

/// Time of copies of states between a call and the next one of its context that generates, ns. Before a prompt
/// the engine copies for the prompt.
fn copies_after(model: &Model, phases: &Phases, copies: &OfThreads, call: usize) -> Option<u64> {
    let d = &model.llama_calls;
    let pid = |i: usize| model.threads.get(d.thread[i]).pid;
    let own = |i: &usize| d.context[*i] == d.context[call] && pid(*i) == pid(call) && d.status[*i] == 0;
    let next = (call + 1..d.len()).filter(own).find(|i| !phases.replays[*i])?;
    let gap = (d.start_ns[call].saturating_add(d.duration_ns[call]), d.start_ns[next]);
    let times = copies.within(model, d.thread[call], gap).map(|(from, to)| to - from);
    phases.llama_calls[next].generates().then(|| times.fold(0, u64::saturating_add))
}

/// The tokens of a call by sequence, and whether these stand for a search in several sequences.
fn shares(model: &Model, phases: &Phases, call: usize) -> (Vec<SequenceShare>, bool) {
    match root(&model.parts, model.parts.of_row(call)) {
        Some(root) => (vec![root.share()], true),
        None => (phases.shares(model, call), false),
    }
}

/// The rounds of a pair, by start.
///
/// The next call of the target with tokens of a sequence shows the outcome of a round. The last round before
/// another prompt, and the last of a session, have no such call: cuts show it. A call of one token after draft
/// calls is a round too: no draft token was good enough to be verified.
pub(super) fn rounds(model: &Model, phases: &Phases, edits: &Edits, pair: &Pair) -> Vec<Round> {
    let (d, contexts) = (&model.llama_calls, &phases.contexts);
    let mut rounds = Rounds::default();
    let (mut draft_calls, mut draft_ns) = (0_u32, 0_u64);
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
            if let Some(last) = rounds.found.last_mut() {
                last.replay(model, phases, i);
            }
        } else if d.context[i] == pair.target {
            let (shares, search) = shares(model, phases, i);
            rounds.next(&shares);
            let generates = phases.roles[i] == Role::Verify || shares.iter().all(|s| s.n == 1);
            if generates && draft_calls > 0 {
                rounds.add(Round::new(i, (&shares, search), draft_ns, d.duration_ns[i]));
            }
            (draft_calls, draft_ns) = (0, 0);
        }
    }
    rounds.close(model, phases, edits)
}

/// The rounds of a context that guesses tokens without a draft model, for example from n-grams of
/// its text; empty if it does not. Calls of parallel sequences have several tokens too, but each
/// sequence goes on by one token.
pub(super) fn without_draft(
    model: &Model,
    phases: &Phases,
    edits: &Edits,
    (pid, context): (u32, u64),
) -> Vec<Round> {
    let d = &model.llama_calls;
    let mut rounds = Rounds::default();
    // Next position of each sequence, if its last call had an output.
    let mut answers: HashMap<Option<i32>, Option<u32>> = HashMap::new();
    let own = |i: &usize| d.context[*i] == context && model.threads.get(d.thread[*i]).pid == pid;
    for i in (0..d.len()).filter(own).filter(|i| d.status[*i] == 0) {
        if phases.replays[i] {
            if let Some(last) = rounds.found.last_mut() {
                last.replay(model, phases, i);
            }
            continue;
        }
        let (shares, search) = shares(model, phases, i);
        rounds.next(&shares);
        if search || shares.iter().any(|s| guesses(s, answers.get(&s.seq).copied().flatten())) {
            rounds.add(Round::new(i, (&shares, search), 0, d.duration_ns[i]));
        }
        for share in &shares {
            let next = share.pos.map(|pos| pos.saturating_add(share.n));
            answers.insert(share.seq, next.filter(|_| share.outputs.is_none_or(|n| n > 0)));
        }
    }
    let found = rounds.close(model, phases, edits);
    // Where batches list their sequences, each of these is known to be a round.
    let told = found.iter().any(|r| r.guesses.iter().any(|g| g.share.seq.is_some()));
    let outcomes = || found.iter().filter_map(Round::emitted);
    let (hits, known) = (outcomes().filter(|n| *n > 1).count(), outcomes().count());
    let believed = hits >= FEWEST_HITS && (known + 1) * 10 >= found.len() * 9;
    if told || believed { found } else { Vec::new() }
}

/// Whether the tokens of a sequence are an answer with guesses. `next`: its next position, if its last call
/// had an output. After rejected guesses it goes back. A longer part is a text whose tokens are scored.
fn guesses(share: &SequenceShare, next: Option<u32>) -> bool {
    let goes_on = next.zip(share.pos).is_some_and(|(next, pos)| pos <= next);
    share.may_verify() && goes_on && share.n <= LONGEST_DRAFT + 1
}

/// Fewest rounds with an accepted guess: one may be the end of a sequence.
const FEWEST_HITS: usize = 2;

fn emitted(n_past: Option<u32>, next: Option<u32>, drafted: u32) -> Option<u32> {
    next?.checked_sub(n_past?).filter(|n| (1..=drafted.saturating_add(1)).contains(n))
}
