//! Graphs go back and forth between backends.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::results::budget::Class;
use profinfer_trace::model::{Layer, Text};

pub(super) const RULE: Rule = Rule {
    code: "splits",
    topic: "splits between backends",
    title: "Graphs go back and forth between backends",
    question: "Why is half on the GPU slower than all or nothing?",
    condition: "The judged calls have more than two splits on different backends in the mean, and hand-over and preparation take at least 5 % of their time.",
    formula: "At most the time of the calls outside of all backends. What of it is copying and waiting between backends is not recorded: at least nothing.",
    remedy: "Put all layers on one backend (-ngl 0 or -ngl 99), and use a type of weights that it supports (Q4_0 on Adreno).",
    source: "llama.cpp #16217, #12810, #10693; ollama #9683",
    questions: ANY,
    requires: &[Requirement::Calls(MIN_CALLS), Requirement::Level("graph")],
    steps: |_, kind| matches!(kind, StepKind::Preparation),
    judge,
};

/// Part of a token from which on it matters.
const MUCH: f64 = 0.05;

fn judge(case: &Case<'_>) -> Verdict {
    let calls = &case.model.graph_calls;
    let mut judged = vec![false; case.model.llama_calls.len()];
    case.calls.all.iter().for_each(|t| judged[t.call as usize] = true);
    let is_judged = |graph: usize| calls.decode[graph].is_some_and(|d| judged[d.0 as usize]);
    let splits = (0..calls.len()).filter(|i| calls.layer[*i] == Layer::Backend && is_judged(*i));
    let mut backends: Vec<Text> = Vec::new();
    let mut n = 0_u64;
    for i in splits {
        n += 1;
        if !backends.contains(&calls.backend[i]) {
            backends.push(calls.backend[i]);
        }
    }
    if backends.len() < 2 {
        return Verdict::DoesNotApply;
    }
    let per_call = n as f64 / case.calls.number().max(1) as f64;
    let between = case.wall(&[Class::GraphPreparation]);
    let ns = Value::Nanoseconds(between.mean as u64);
    let evidence = vec![
        Evidence::new("splits_per_call", Value::Mean(per_call), Place::Graphs),
        case.per_unit("graph_preparation_ns", ns, Place::Budget),
        Evidence::new("backends", Value::Count(backends.len() as u64), Place::Graphs),
    ];
    if let Some(noisy) = case.noisy(between, MUCH, &evidence).filter(|_| per_call > 2.0) {
        return noisy;
    }
    if per_call <= 2.0 || case.share(between.mean) < MUCH {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::OneBackend,
        gains: vec![case.gain(0.0, between.high())],
        confidence: Confidence::Medium,
    })
}
