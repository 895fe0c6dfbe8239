//! Copies of the states of sequences take long.

use std::collections::HashMap;

use super::super::case::Case;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Confidence, Found, Gain, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, Ladder, NAMED, Question, Step, StepKind};
use crate::shared::housekeeping::copies_state;
use crate::stats::mean::Mean;
use profinfer_trace::model::{Housekeeping, HousekeepingKind};

pub(super) const RULE: Rule = Rule {
    code: "state_copies",
    topic: "copies of the state",
    title: "Copies of the state of sequences take long",
    question: "Why is the first token late although the prompt is short?",
    condition: "Between two calls, the engine copies the state of sequences, for checkpoints of a prompt, for the cache of finished prompts, or back, for at least 3 % of the time to the first token, of a prompt or of a token. Copies just before the first call of a request delay its first token, too.",
    formula: "The time of these copies, with its 95 % interval: what it takes without any. Fewer copies save their part of it.",
    remedy: "Make fewer checkpoints (--checkpoint-min-step, --ctx-checkpoints; 0 if no prompt continues another one), and keep no finished prompts if none comes again (--cache-ram 0).",
    source: "llama.cpp #25592 (70 to 80 of 122 ms), #25320, #16391",
    questions: ANY,
    requires: &[],
    steps: |_, kind| kind == StepKind::StateCopies,
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let copies: Vec<&Housekeeping> =
        case.model.housekeeping.iter().filter(|h| h.pid == case.pid && copies_state(h)).collect();
    if copies.is_empty() {
        return Verdict::DoesNotApply;
    }
    let of = |kind: HousekeepingKind| copies.iter().filter(|h| h.kind == kind).count() as u64;
    let n = copies.len() as u64;
    let mean =
        |value: fn(&Housekeeping) -> u64| copies.iter().map(|h| value(h)).fold(0, u64::saturating_add) / n;
    let mut evidence = vec![
        Evidence::new("saved_states", Value::Count(of(HousekeepingKind::SaveState)), Place::Requests),
        Evidence::new("restored_states", Value::Count(of(HousekeepingKind::RestoreState)), Place::Requests),
        Evidence::new("bytes_of_a_state", Value::Bytes(mean(|h| h.bytes)), Place::Requests),
        Evidence::new("copy_ns", Value::Nanoseconds(mean(|h| h.duration_ns)), Place::Requests),
    ];
    let before = before_requests(case);
    let mut ladders: Vec<Ladder> = [Question::Decode, Question::Encode]
        .into_iter()
        .filter_map(|question| case.ladder(question).cloned())
        .collect();
    // A prompt's own calls have nothing between them: that is in the time to the first token.
    let first = case.ladder(Question::FirstToken).or_else(|| case.ladder(Question::Prompt));
    ladders.extend(first.map(|ladder| with_copies(ladder, &before)));
    if before.iter().any(|ns| *ns > 0) {
        let mean = before.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns)) / before.len() as u64;
        evidence.push(Evidence::new("before_request_ns", Value::Nanoseconds(mean), Place::Requests));
    }
    let mut shares: Vec<(f64, &Ladder)> = ladders
        .iter()
        .map(|ladder| (ladder.share(ladder.sum(|kind| kind == StepKind::StateCopies)), ladder))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    match shares.first() {
        None => Verdict::DoesNotApply,
        Some((share, _)) if *share < IGNORED => Verdict::RuledOut(evidence),
        Some((share, _)) if *share < NAMED => Verdict::Noisy(evidence),
        Some(_) => {
            let much = shares.iter().filter(|(share, _)| *share >= IGNORED);
            let gains =
                much.filter_map(|(_, ladder)| Gain::without_step(ladder, StepKind::StateCopies)).collect();
            Verdict::Found(Found {
                evidence,
                remedy: Remedy::FewerStateCopies,
                gains,
                confidence: Confidence::High,
            })
        }
    }
}

/// Copies between the first call of each request and the call before it, ns. A server saves what a sequence
/// held and restores an earlier prompt when a request arrives. Before a call that generates, the ladder of
/// tokens has them.
fn before_requests(case: &Case<'_>) -> Vec<u64> {
    let Case { model, analysis, pid, .. } = case;
    let calls = &model.llama_calls;
    let copies: HashMap<u32, u64> = analysis
        .replay
        .gaps
        .iter()
        .filter(|gap| !gap.phase.generates())
        .map(|gap| (gap.call.0, gap.state_copies_ns))
        .collect();
    let first = analysis.token.requests.iter().map(|request| request.first_call);
    let own = |call: &u32| model.threads.get(calls.thread[*call as usize]).pid == *pid;
    first.filter(own).map(|call| copies.get(&call).copied().unwrap_or(0)).collect()
}

/// The ladder with the copies before each of its requests, which is time between calls.
fn with_copies(ladder: &Ladder, before: &[u64]) -> Ladder {
    let mean = Mean::new(before);
    let mut ladder = ladder.clone();
    let (ns, half_ns) = (mean.mean * ladder.units as f64, mean.half * ladder.units as f64);
    let added = Step { kind: StepKind::StateCopies, ns: ns as i64, half_ns: half_ns as u64, gain: None };
    ladder.measured_ns = ladder.measured_ns.saturating_add(ns as u64);
    match ladder.steps.iter_mut().find(|step| step.kind == added.kind) {
        Some(step) => {
            step.ns = step.ns.saturating_add(added.ns);
            step.half_ns = step.half_ns.saturating_add(added.half_ns);
        }
        None => ladder.steps.push(added),
    }
    ladder
}
