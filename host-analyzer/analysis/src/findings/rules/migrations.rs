//! Threads migrate between CPUs.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy};

pub(super) const RULE: Rule = Rule {
    code: "migrations",
    topic: "migrations between CPUs",
    title: "Threads migrate between CPUs",
    question: "Why do other cores work than those that I counted on?",
    condition: "Decode threads begin operators on one CPU and end them on another, or change CPUs between operators, more than once in two tokens.",
    formula: "No time is promised: what a move costs depends on what the caches held.",
    remedy: "Pin the threads: --cpu-mask with --cpu-strict 1, or taskset.",
    source: "llama.cpp #16164, llama.rn #207; yzma #374 (pinned 138 tok/s at once, unpinned 96 rising to 125)",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::AllOperators,
        Requirement::Cpus,
    ],
    steps: |_, _| false,
    judge,
};

/// Moves per token from which on it is found.
const MOVES: f64 = 0.5;

fn judge(case: &Case<'_>) -> Verdict {
    let moves = case.moves_per_unit();
    let evidence = vec![
        Evidence::new("moves_per_token", Value::Mean(moves), Place::Threads),
        Evidence::new(
            "cpus",
            Value::Cpus(case.working_cpus().iter().map(|(c, _)| *c).collect()),
            Place::Threads,
        ),
        Evidence::new("threads", Value::Count(case.headline.threads), Place::Threads),
    ];
    if moves < MOVES {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::PinThreads,
        gains: Vec::new(),
        confidence: Confidence::Low,
    })
}
