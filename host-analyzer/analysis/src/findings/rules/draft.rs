//! A draft model costs more than it brings.

use super::super::case::drafted_ns;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::ladder::{Question, StepKind};
use crate::results::speculative::{Plain, PlainSource, Speculative};

pub(super) const RULE: Rule = Rule {
    code: "draft",
    topic: "draft model",
    title: "The draft model does not pay",
    question: "Why is it slower with a draft model?",
    condition: "Fewer tokens come out of a round than the round costs, counted in tokens that the target makes alone in that time: a < c_v(k) + k α. Where the target never ran one token alone, its time for one lies between T(k+1) / (k+1) and T(k+1), the median call that verifies k guesses: n tokens at once take no longer than n times one, and no less than one. If it pays by one of these bounds and not by the other, it is noisy.",
    formula: "The mean time of a token with the draft less that of the target alone: 0.7 to 1.3 of it where that was measured, otherwise from the upper bound of it to the lower one. The medians of calls tell these times; the upper end is stretched by what tokens really took in the mean, as sampling and disturbances shrink along.",
    remedy: "Leave the draft model out, let it guess less (--spec-draft-n-max), or take a faster or a better one.",
    source: "llama.cpp #25908, #10455, #3919; on CPUs draft and target share one memory: -49 to -62 % were reported. The condition for a gain is that of Leviathan, Kalman and Matias, Fast inference from transformers via speculative decoding (arXiv 2211.17192), with measured costs",
    requires: &[],
    steps: guessing,
    judge,
};

/// The steps in which guesses and their verification cost time.
pub(super) const fn guessing(_: Question, kind: StepKind) -> bool {
    matches!(
        kind,
        StepKind::Floor
            | StepKind::AboveFloor
            | StepKind::Application
            | StepKind::Dispatch
            | StepKind::Preparation
    )
}

fn judge(case: &Case<'_>) -> Verdict {
    verdict(case, |row| row.draft.is_some())
}

/// The verdict on the rows that `of` selects.
pub(super) fn verdict(case: &Case<'_>, of: fn(&Speculative) -> bool) -> Verdict {
    let rows = case.analysis.speculative.iter().filter(|row| of(row));
    let Some(row) = rows.max_by_key(|s| s.rounds) else { return Verdict::DoesNotApply };
    let (Some(speed), Some(plain)) = (row.tokens_per_s.filter(|speed| *speed > 0.0), row.plain) else {
        return Verdict::NotEnoughData(vec![Requirement::Rounds]);
    };
    let with = 1e9 / speed;
    let evidence = evidence(row, &plain);
    // The gain, by the longest and by the shortest time that a plain token may take.
    let (low, high) = (with - plain.high_ns as f64, with - plain.low_ns as f64);
    if high <= 0.0 {
        return Verdict::RuledOut(evidence);
    }
    if low <= 0.0 {
        return Verdict::Noisy(evidence);
    }
    let (low, high) = match plain.by {
        PlainSource::Calls => (low * 0.7, high * 1.3),
        PlainSource::Line | PlainSource::Bounds => (low, high),
    };
    let took = drafted_ns(case.analysis).map_or(with, |ns| with.max(ns as f64));
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::NoDraft,
        gains: vec![Gain::new(took as u64, low, high * took / with)],
        confidence: if plain.by == PlainSource::Calls { Confidence::High } else { Confidence::Medium },
    })
}

fn evidence(row: &Speculative, plain: &Plain) -> Vec<Evidence> {
    let mut all = Vec::new();
    let mut add = |key, value: Option<Value>| {
        all.extend(value.map(|value| Evidence::new(key, value, Place::Speculative)));
    };
    let bounds = plain.by == PlainSource::Bounds;
    add("emitted_per_round", row.emitted_per_round.map(Value::Mean));
    let cost = if bounds { "break_even_per_round_at_least" } else { "break_even_per_round" };
    add(cost, row.break_even_per_round.map(Value::Mean));
    add("accepted_share", row.accepted_share.map(Value::Share));
    add("tokens_per_s", row.tokens_per_s.map(Value::Mean));
    if bounds {
        add("plain_token_at_least", Some(Value::Nanoseconds(plain.low_ns)));
        add("plain_token_at_most", Some(Value::Nanoseconds(plain.high_ns)));
    } else {
        add("plain_tokens_per_s", row.plain_tokens_per_s.map(Value::Mean));
    }
    all
}
