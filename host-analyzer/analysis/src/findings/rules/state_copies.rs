//! Copies of the states of sequences take long.

use super::super::case::Case;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Confidence, Found, Gain, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, Ladder, NAMED, Question, StepKind};
use crate::shared::housekeeping::copies_state;
use profinfer_trace::model::{Housekeeping, HousekeepingKind};

pub(super) const RULE: Rule = Rule {
    code: "state_copies",
    topic: "copies of the state",
    title: "Copies of the state of sequences take long",
    question: "Why is the first token late although the prompt is short?",
    condition: "Between two calls, the engine copies the state of sequences, for checkpoints of a prompt, for the cache of finished prompts, or back, for at least 3 % of the time to the first token, of a prompt or of a token.",
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
    let evidence = vec![
        Evidence::new("saved_states", Value::Count(of(HousekeepingKind::SaveState)), Place::Requests),
        Evidence::new("restored_states", Value::Count(of(HousekeepingKind::RestoreState)), Place::Requests),
        Evidence::new("bytes_of_a_state", Value::Bytes(mean(|h| h.bytes)), Place::Requests),
        Evidence::new("copy_ns", Value::Nanoseconds(mean(|h| h.duration_ns)), Place::Requests),
    ];
    // A prompt's own calls have nothing between them: that is in the time to the first token.
    let ladders = [Question::FirstToken, Question::Decode, Question::Encode];
    let mut shares: Vec<(f64, &Ladder)> = ladders
        .into_iter()
        .filter_map(|question| case.ladder(question))
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
