//! Speculative decoding: number of accepted draft tokens, their cost, and whether it was worth it.
//!
//! Stage: analysis. From: `llama_decode` calls, their positions, the pairs of contexts. To: one
//! [`Speculative`] per pair. Promises: counts equal those of the engine's own report, except for
//! rounds whose outcome no later call shows; these are counted as open.

mod plain;
mod round;

use std::collections::{BTreeMap, BTreeSet};

use crate::shared::edit::Edits;
use crate::shared::group::context_name;
use crate::shared::phase::{Pair, Phase, Phases};
use crate::stats::percentile::percentile;
pub use plain::{Plain, PlainSource};
use profinfer_trace::model::Model;
use round::{Round, rounds, without_draft};

/// Speculative decoding with one draft and one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Speculative {
    pub pid: u32,
    /// Address of the draft's context in hex; `None` for guesses without a draft model.
    pub draft: Option<String>,
    /// Address of the target's context in hex.
    pub target: Option<String>,
    /// Calls of the target after draft calls.
    pub rounds: u64,
    /// Rounds whose outcome is unknown.
    pub open_rounds: u64,
    /// Verified draft tokens, in all rounds; of branches in several sequences, those of the longest one.
    pub drafted: u64,
    /// Accepted draft tokens, in rounds with known outcome.
    pub accepted: u64,
    /// Output tokens of these rounds: the accepted ones, and one more per round; two more where a model with
    /// a recurrent state verified them again.
    pub emitted: u64,
    /// Acceptance rate in rounds with known outcome; `None` without any.
    pub accepted_share: Option<f64>,
    /// Mean number of output tokens per round.
    pub emitted_per_round: Option<f64>,
    /// Acceptance by position of the draft token.
    pub positions: Vec<Position>,
    /// Cost of verification, by number of draft tokens.
    pub verified: Vec<Verified>,
    /// Median time of the draft's calls per draft token, ns: the time of a round's draft calls
    /// divided by its draft tokens, over rounds.
    pub draft_token_ns: Option<u64>,
    /// Time in which a round computes accepted tokens again, because a recurrent state cannot be cut back, ns:
    /// median of the rounds that do, times their share.
    pub replay_ns: u64,
    /// Time in which a round copies states of sequences, ns: likewise.
    pub copies_ns: u64,
    /// The target without a draft, where known.
    pub plain: Option<Plain>,
    /// Time of the draft per draft token divided by the target's time per token.
    pub draft_ratio: Option<f64>,
    /// Cost of a round, in tokens that the target generates in that time without a draft. It is a
    /// lower bound where `plain` is known by bounds only, and so are all figures that divide by
    /// `plain`.
    pub break_even_per_round: Option<f64>,
    /// A round gives more tokens than that; `None` where it depends on the bounds.
    pub wins: Option<bool>,
    /// Tokens per second of calls and copies of states: tokens of a round divided by the cost of a round.
    pub tokens_per_s: Option<f64>,
    /// The same without a draft.
    pub plain_tokens_per_s: Option<f64>,
}

/// Draft tokens of one position, in rounds with known outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// 1 is the first draft token of a round.
    pub position: u32,
    /// Rounds that had it.
    pub drafted: u64,
    /// Rounds that accepted it.
    pub accepted: u64,
    /// `accepted` divided by `drafted`.
    pub accepted_share: f64,
}

/// Calls of the target with the same number of draft tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verified {
    /// Draft tokens per call.
    pub drafted: u32,
    pub rounds: u64,
    /// Median duration of the call, ns.
    pub median_ns: u64,
    /// That divided by the target's time for one token.
    pub verify_ratio: Option<f64>,
}

/// Output tokens of each `llama_decode` call that verified guesses, as far as known.
pub(crate) fn emitted(model: &Model, phases: &Phases) -> Vec<Option<u32>> {
    let mut all = vec![None; model.llama_calls.len()];
    let edits = Edits::compute(model);
    let pairs = phases.pairs.iter().flat_map(|pair| rounds(model, phases, &edits, pair));
    let alone = single(model, phases).into_iter().flat_map(|of| without_draft(model, phases, &edits, of));
    for round in pairs.chain(alone) {
        all[round.call] = round.emitted();
    }
    all
}

/// Process and context of calls with several tokens, where the process has no other context that
/// could draft.
fn single(model: &Model, phases: &Phases) -> BTreeSet<(u32, u64)> {
    let d = &model.llama_calls;
    let mut contexts: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for i in 0..d.len() {
        contexts.entry(model.threads.get(d.thread[i]).pid).or_default().insert(d.context[i]);
    }
    let several = (0..d.len()).filter(|i| phases.llama_calls[*i] == Phase::BatchDecode);
    let of = several.map(|i| (model.threads.get(d.thread[i]).pid, d.context[i]));
    of.filter(|(pid, _)| contexts.get(pid).is_some_and(|all| all.len() == 1)).collect()
}

/// Speculative decoding of a session: the pairs of draft and target, then the contexts that guess
/// without a draft.
#[must_use]
pub fn speculative(model: &Model, phases: &Phases) -> Vec<Speculative> {
    let of = |rounds: &[Round], (pid, draft, target): (u32, Option<u64>, u64)| {
        let d = &model.llama_calls;
        let ones: Vec<u64> = (0..d.len())
            .filter(|i| d.context[*i] == target && model.threads.get(d.thread[*i]).pid == pid)
            .filter(|i| phases.llama_calls[*i] == Phase::Decode && d.status[*i] == 0)
            .map(|i| d.duration_ns[i])
            .collect();
        let (draft, target) = (draft.and_then(context_name), context_name(target));
        Speculative { pid, draft, target, ..figures(rounds, ones) }
    };
    let edits = Edits::compute(model);
    let pair = |p: &Pair| of(&rounds(model, phases, &edits, p), (p.pid, Some(p.draft), p.target));
    let alone = single(model, phases).into_iter().filter_map(|(pid, context)| {
        let rounds = without_draft(model, phases, &edits, (pid, context));
        (!rounds.is_empty()).then(|| of(&rounds, (pid, None, context)))
    });
    phases.pairs.iter().map(pair).chain(alone).collect()
}

fn figures(rounds: &[Round], ones: Vec<u64>) -> Speculative {
    let n = rounds.len() as u64;
    let known_rounds = rounds.iter().filter_map(Round::emitted).count() as u64;
    let tokens: u64 = rounds.iter().filter_map(Round::emitted).map(u64::from).sum();
    let outcomes = || rounds.iter().flat_map(Round::outcomes);
    let accepted: u64 = outcomes().map(|(_, accepted)| u64::from(accepted)).sum();
    let verified_known: u64 = outcomes().map(|(drafted, _)| u64::from(drafted)).sum();
    let drafted: u64 = rounds.iter().map(|r| u64::from(r.drafted())).sum();
    let sizes = sizes(rounds);
    // A token alone is not what a call of several sequences would be without guesses. And a search has more
    // tokens than the longest branch.
    let several = rounds.iter().any(|r| r.guesses.len() > 1 || r.search);
    let plain = plain::plain(ones, &sizes).filter(|_| !several);
    let guessing = rounds.iter().filter(|r| r.drafted() > 0);
    let mut draft_times: Vec<u64> = guessing.map(|r| r.draft_ns / u64::from(r.drafted())).collect();
    let draft_token_ns = percentile(&mut draft_times, 50);
    // Cost of a round from medians, so that a single hiccup does not count.
    let replay_ns = per_round(rounds.iter().map(|r| r.replay_ns));
    let copies_ns = per_round(rounds.iter().filter_map(|r| r.copies_ns));
    let round_ns = draft_token_ns.filter(|_| n > 0).map(|draft| {
        let verify: f64 = sizes.iter().map(|s| s.rounds as f64 * s.median_ns as f64).sum();
        (verify + drafted as f64 * draft as f64) / n as f64 + replay_ns + copies_ns
    });
    let in_plain = |ns: f64| plain.filter(|p| p.ns > 0).map(|p| ns / p.ns as f64);
    let emitted_per_round = ratio(tokens, known_rounds);
    let break_even_per_round = round_ns.and_then(in_plain);
    let wins = || plain?.wins(emitted_per_round?, round_ns?);
    let verified =
        sizes.iter().map(|s| Verified { verify_ratio: in_plain(s.median_ns as f64), ..*s }).collect();
    Speculative {
        pid: 0,
        draft: None,
        target: None,
        rounds: n,
        open_rounds: n - known_rounds,
        drafted,
        accepted,
        emitted: tokens,
        accepted_share: ratio(accepted, verified_known),
        emitted_per_round,
        positions: positions(rounds),
        verified,
        draft_token_ns,
        replay_ns: replay_ns.round() as u64,
        copies_ns: copies_ns.round() as u64,
        plain,
        draft_ratio: draft_token_ns.and_then(|ns| in_plain(ns as f64)),
        break_even_per_round,
        wins: wins(),
        tokens_per_s: emitted_per_round.zip(round_ns.filter(|ns| *ns > 0.0)).map(|(a, ns)| a * 1e9 / ns),
        plain_tokens_per_s: plain.filter(|p| p.ns > 0).map(|p| 1e9 / p.ns as f64),
    }
}

/// What some of the rounds do, per round, ns: their median, times their share.
fn per_round(times: impl Iterator<Item = u64>) -> f64 {
    let all: Vec<u64> = times.collect();
    let mut done: Vec<u64> = all.iter().copied().filter(|ns| *ns > 0).collect();
    let share = ratio(done.len() as u64, all.len() as u64);
    share.zip(percentile(&mut done, 50)).map_or(0.0, |(share, median)| share * median as f64)
}

fn sizes(rounds: &[Round]) -> Vec<Verified> {
    let mut lengths: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for r in rounds.iter().filter(|r| r.alone) {
        lengths.entry(r.drafted()).or_default().push(r.verify_ns);
    }
    lengths
        .into_iter()
        .filter_map(|(drafted, mut ns)| {
            let rounds = ns.len() as u64;
            let median_ns = percentile(&mut ns, 50)?;
            Some(Verified { drafted, rounds, median_ns, verify_ratio: None })
        })
        .collect()
}

fn positions(rounds: &[Round]) -> Vec<Position> {
    let outcomes = || rounds.iter().flat_map(Round::outcomes);
    let longest = outcomes().map(|(drafted, _)| drafted).max().unwrap_or(0);
    let of = |position: u32| {
        let known = || outcomes().filter(move |(drafted, _)| *drafted >= position);
        let (drafted, accepted) =
            (known().count() as u64, known().filter(|(_, accepted)| *accepted >= position).count() as u64);
        Some(Position { position, drafted, accepted, accepted_share: ratio(accepted, drafted)? })
    };
    (1..=longest).map_while(of).collect()
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
