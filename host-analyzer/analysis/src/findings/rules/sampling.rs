//! Sampling and the application between two token calls take long.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};
use crate::ladder::StepKind;
use crate::results::budget::Class;
use crate::stats::mean::Mean;
use crate::stats::percentile::percentile;

pub(super) const RULE: Rule = Rule {
    code: "sampling",
    topic: "sampling",
    title: "Sampling takes long",
    question: "Evaluation is fast and the whole is slow: where is the rest?",
    condition: "The time between the end of a token call and the start of the next is at least 5 % of a decode token, and 0.2 ms. No operator runs in it, and it does not wait for another backend.",
    formula: "At most the class `application` of a decode token, by the upper end of its 95 % interval; at least what it takes longer than in the fastest tenth of the tokens. What of it is sampling, and what the application's own work, is not recorded: the likely gain is the middle.",
    remedy: "Limit the candidates first (--top-k 40), leave out samplers that sort the whole vocabulary, avoid large grammars, and look at \
             what the application does with each token.",
    source: "llama.cpp #15223 (--top-k 0: 0.08 to 13 ms a token), #8988, #7554 (grammars)",
    questions: GENERATING,
    requires: &[Requirement::Calls(MIN_CALLS)],
    steps: |_, kind| matches!(kind, StepKind::Application),
    judge,
};

/// From this part of a token on.
const MUCH: f64 = 0.05;
/// Less than this is what any application takes, ns.
const LEAST_NS: f64 = 200_000.0;

/// The part of a token in which the engine copies the states of sequences: that is another rule's.
fn copies(case: &Case<'_>) -> Mean {
    let ladder = case.ladder(case.calls.question);
    let ns = ladder.map_or(0, |ladder| ladder.sum(|kind| kind == StepKind::StateCopies));
    let units = ladder.map_or(1, |ladder| ladder.units.max(1));
    Mean { mean: ns as f64 / units as f64, half: 0.0 }
}

/// What the fastest tenth of the calls has at most after it, ns per unit.
fn fastest_ns(case: &Case<'_>) -> f64 {
    let mut times: Vec<u64> = case.calls.all.iter().map(|t| t.wall.get(Class::Application)).collect();
    let fastest = percentile(&mut times, 10).unwrap_or(0) as f64;
    case.calls.per_unit(Mean { mean: fastest, half: 0.0 }).mean
}

fn judge(case: &Case<'_>) -> Verdict {
    if !case.knows_waits_for_backends() {
        return Verdict::NotEnoughData(vec![Requirement::WaitsForBackends]);
    }
    let between = case.wall(&[Class::Application]).minus(copies(case));
    let evidence = vec![
        Evidence::new("application_ns_per_token", Value::Nanoseconds(between.mean as u64), Place::Budget),
        Evidence::new("application_share", Value::Share(case.share(between.mean)), Place::Budget),
    ];
    let much = MUCH.max(case.share(LEAST_NS));
    if let Some(noisy) = case.noisy(between, much, &evidence) {
        return noisy;
    }
    if case.share(between.mean) < much {
        return Verdict::RuledOut(evidence);
    }
    let gain = case.gain(between.low() - fastest_ns(case), between.high());
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Sampling,
        gains: vec![gain],
        confidence: Confidence::Medium,
    })
}
