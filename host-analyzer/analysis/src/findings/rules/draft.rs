//! A draft model costs more than it brings.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{Question, StepKind};
use crate::results::speculative::{Plain, PlainSource, Speculative};

pub(super) const RULE: Rule = Rule {
    code: "draft",
    topic: "draft model",
    title: "The draft model does not pay",
    question: "Why is it slower with a draft model?",
    condition: "Fewer tokens come out of a round than the round costs, counted in tokens that the target makes alone in that time: a < c_v(k) + k α. The cost has the copies of states between the calls of a round, and the calls that compute accepted guesses again. Where the target ran fewer than eight tokens alone, its time for one lies between T(k+1) / (k+1) and T(k+1), the median call that verifies k guesses: n tokens at once take no longer than n times one, and no less than one. If it pays by one of these bounds and not by the other, it is noisy.",
    formula: "The time of a token that came out, over all calls and without the application and what delayed it, less that of the target alone: the 95 % interval of the median of its single tokens from eight of these on, otherwise from the upper bound of it to the lower one. The upper end is stretched by what tokens really took, as disturbances shrink along.",
    remedy: "Leave the draft model out, let it guess less (--spec-draft-n-max), or take a faster or a better one.",
    source: "llama.cpp #25908, #10455, #3919; on CPUs draft and target share one memory: -49 to -62 % were reported. The condition for a gain is that of Leviathan, Kalman and Matias, Fast inference from transformers via speculative decoding (arXiv 2211.17192), with measured costs",
    questions: ANY,
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
            | StepKind::StateCopies
    )
}

/// Options that name a draft model, by llama.cpp's `common/arg.cpp`, and the beginning of the types that need
/// one.
const MODELS: [&str; 3] = ["-md", "--model-draft", "--spec-draft-model"];
const TYPE: &str = "draft";

fn judge(case: &Case<'_>) -> Verdict {
    let asked = |words: &[&str]| words.iter().any(|w| MODELS.contains(w)) || has_type(words, TYPE);
    verdict(case, |row| row.draft.is_some(), asked)
}

/// Whether a command line asks for a type of speculation that begins so.
pub(super) fn has_type(words: &[&str], begin: &str) -> bool {
    let types = words.windows(2).filter(|pair| pair[0] == "--spec-type").flat_map(|pair| pair[1].split(','));
    types.into_iter().any(|kind| kind.starts_with(begin))
}

/// The verdict on the rows that `of` selects. Without any, that no guess was made is an answer if the command
/// line `asked` for guesses.
pub(super) fn verdict(
    case: &Case<'_>,
    of: fn(&Speculative) -> bool,
    asked: impl Fn(&[&str]) -> bool,
) -> Verdict {
    let rows = case.analysis.speculative.iter().filter(|row| of(row));
    let Some(row) = rows.max_by_key(|s| s.rounds) else {
        let process = case.model.session.processes.iter().find(|p| p.pid == case.pid);
        let words: Vec<&str> = process.map_or("", |p| &p.command).split_whitespace().collect();
        let generates = case.generates() && case.calls.number() >= MIN_CALLS;
        if !generates || !asked(&words) {
            return Verdict::DoesNotApply;
        }
        let none = Evidence::new("batches_with_guesses", Value::Count(0), Place::Speculative);
        return Verdict::RuledOut(vec![none]);
    };
    let (Some(ladder), Some(_)) = (case.ladder(Question::Decode), row.emitted_per_round) else {
        return Verdict::NotEnoughData(vec![Requirement::Rounds]);
    };
    let Some(plain) = row.plain else {
        return Verdict::NotEnoughData(vec![Requirement::PlainTokens]);
    };
    let evidence = evidence(row, &plain);
    // The application does the same for each token that comes out.
    let per_token = |ns: u64| ns as f64 / ladder.units.max(1) as f64;
    let application = per_token(u64::try_from(ladder.sum(|k| k == StepKind::Application)).unwrap_or(0));
    let with = per_token(ladder.undisturbed_ns) - application;
    let saved = |plain_ns: u64| with - plain_ns as f64;
    let (low, likely, high) = (saved(plain.high_ns), saved(plain.ns), saved(plain.low_ns));
    // Single tokens are as they were measured, with what delayed them: it is ruled out only if the rounds, as
    // measured, are faster too.
    if high <= 0.0 && row.wins == Some(true) {
        return Verdict::RuledOut(evidence);
    }
    if low <= 0.0 {
        return Verdict::Noisy(evidence);
    }
    // Disturbances become less, as the time does.
    let disturbed = ladder.measured_ns as f64 / ladder.undisturbed_ns.max(1) as f64;
    let gain = Gain::new(ladder.unit_ns(), low, high * disturbed).with_likely(match plain.by {
        PlainSource::Calls | PlainSource::Line => likely,
        PlainSource::Bounds => f64::midpoint(low, high),
    });
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::NoDraft,
        gains: vec![gain.in_other_sessions()],
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
    add("replay_per_round", Some(row.replay_ns).filter(|ns| *ns > 0).map(Value::Nanoseconds));
    add("copies_per_round", Some(row.copies_ns).filter(|ns| *ns > 0).map(Value::Nanoseconds));
    add("tokens_per_s", row.tokens_per_s.map(Value::Mean));
    if bounds {
        add("plain_token_at_least", Some(Value::Nanoseconds(plain.low_ns)));
        add("plain_token_at_most", Some(Value::Nanoseconds(plain.high_ns)));
    } else {
        add("plain_tokens_per_s", row.plain_tokens_per_s.map(Value::Mean));
    }
    all
}
