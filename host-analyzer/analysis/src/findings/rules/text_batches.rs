//! Texts that are only read, few at a time.

use super::super::case::MIN_GAIN_SHARE;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{Question, StepKind};
use crate::replay::CallReplay;
use crate::shared::phase::Phase;
use crate::stats::fit::{Line, Point};

pub(super) const RULE: Rule = Rule {
    code: "text_batches",
    topic: "texts per call",
    title: "Texts are read a few at a time",
    question: "Why do embeddings or a reranking take so long?",
    condition: "The engine reads texts without generating, in calls of fewer than 256 tokens in the mean, and at least 5 % of a text's time does not depend on its length: each call reads all weights.",
    formula: "A call takes a + b * tokens: a line through the calls of this recording. The gain is that of calls of 512 tokens: a for each text less, with the line's 95 % interval.",
    remedy: "Send several texts in one request (an array), or several requests at a time to as many slots (--parallel), with a batch for all of them (-b, -ub).",
    source: "llama.cpp tools/server/README: --ubatch-size, --parallel; #11114",
    questions: ANY,
    requires: &[],
    steps: |question, kind| {
        question == Question::Prompt
            && matches!(
                kind,
                StepKind::Floor | StepKind::AboveFloor | StepKind::Dispatch | StepKind::Preparation
            )
    },
    judge,
};

/// Tokens from which on the time of reading the weights is a small part of a call.
const LARGE: u64 = 256;
/// The engine's default.
const UBATCH: f64 = 512.0;
/// Fewest calls for a line.
const FEWEST: u64 = 8;
/// From this part of a text's time on.
const MUCH: f64 = 0.05;

fn judge(case: &Case<'_>) -> Verdict {
    let (Some(texts), Some(ladder)) = (case.headline.texts, case.ladder(Question::Prompt)) else {
        return Verdict::DoesNotApply;
    };
    if texts.reads > texts.texts {
        return Verdict::DoesNotApply;
    }
    let calls = case.replayed(Phase::Prefill);
    let per_call = texts.tokens.checked_div(texts.calls).unwrap_or(0);
    let mut evidence = vec![
        Evidence::new("tokens_per_call", Value::Count(per_call), Place::Requests),
        Evidence::new("texts", Value::Count(texts.texts), Place::Requests),
        Evidence::new("calls", Value::Count(texts.calls), Place::Requests),
    ];
    if per_call >= LARGE {
        return Verdict::RuledOut(evidence);
    }
    let line = Line::through(&points(case, &calls)).filter(|_| calls.len() as u64 >= FEWEST);
    let Some((constant, half)) = line.map(|line| line.at(0.0)) else {
        return Verdict::NotEnoughData(vec![Requirement::TextLengths]);
    };
    evidence.push(Evidence::new("call_ns", Value::Nanoseconds(constant.max(0.0) as u64), Place::Requests));
    let of_texts = |n: f64| n / texts.texts.max(1) as f64;
    // Calls that are left if each has as many tokens as the engine computes at once.
    let saved_calls = of_texts(texts.calls as f64 - (texts.tokens as f64 / UBATCH).ceil());
    let (low, high) = ((constant - half) * saved_calls, (constant + half) * saved_calls);
    let whole = ladder.unit_ns();
    let share = |ns: f64| ns / whole.max(1) as f64;
    if share(high) < MIN_GAIN_SHARE {
        return Verdict::RuledOut(evidence);
    }
    if share(constant * saved_calls) < MUCH || low <= 0.0 {
        return Verdict::Noisy(evidence);
    }
    let gain = Gain::of_request(whole, low, high).with_likely(constant * saved_calls);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::LargerBatches { tokens: UBATCH as u64 },
        gains: vec![gain.in_other_sessions()],
        confidence: Confidence::Medium,
    })
}

/// Tokens and time of each call.
fn points(case: &Case<'_>, calls: &[&CallReplay]) -> Vec<Point> {
    let tokens = |c: &CallReplay| f64::from(case.model.llama_calls.n_tokens[c.call.0 as usize]);
    let point = |c: &&CallReplay| {
        let ns = c.alone_ns();
        Point { x: tokens(c), median: ns as f64, error: 0.0, weight: 1.0 }
    };
    calls.iter().map(point).collect()
}
