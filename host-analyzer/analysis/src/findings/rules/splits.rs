//! Graphs go back and forth between backends.

use super::super::case::MIN_TOKENS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::ladder::StepKind;
use crate::results::budget::Class;
use profinfer_trace::model::{Layer, Text};

pub(super) const RULE: Rule = Rule {
    code: "splits",
    topic: "splits between backends",
    title: "Graphs go back and forth between backends",
    question: "Why is half on the GPU slower than all or nothing?",
    condition: "A decode token has more than two splits on different backends, and hand-over and preparation take at least 5 % of it.",
    formula: "The time of the token call outside of all backends, 0.2 to 0.9 of it: what fewer splits would not copy and wait for.",
    remedy: "Put all layers on one backend (-ngl 0 or -ngl 99), and use a type of weights that it supports (Q4_0 on Adreno).",
    source: "llama.cpp #16217, #12810, #10693; ollama #9683",
    requires: &[Requirement::DecodeCalls(MIN_TOKENS), Requirement::Level("graph")],
    steps: |_, kind| matches!(kind, StepKind::Preparation),
    judge,
};

/// Part of a token from which on it matters.
const MUCH: f64 = 0.05;

fn judge(case: &Case<'_>) -> Verdict {
    let calls = &case.model.graph_calls;
    let of_token = |call: usize| {
        calls.decode[call].is_some_and(|d| case.tokens.binary_search_by_key(&d.0, |t| t.call).is_ok())
    };
    let splits = (0..calls.len()).filter(|i| calls.layer[*i] == Layer::Backend && of_token(*i));
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
    let per_token = n as f64 / case.headline.tokens.max(1) as f64;
    let between = case.wall(&[Class::GraphPreparation]);
    let ns = Value::Nanoseconds(between.mean as u64);
    let evidence = vec![
        Evidence::new("splits_per_token", Value::Mean(per_token), Place::Graphs),
        Evidence::new("graph_preparation_ns_per_token", ns, Place::Budget),
        Evidence::new("backends", Value::Count(backends.len() as u64), Place::Graphs),
    ];
    if let Some(noisy) = case.noisy(between, MUCH, &evidence).filter(|_| per_token > 2.0) {
        return noisy;
    }
    if per_token <= 2.0 || case.share(between.mean) < MUCH {
        return Verdict::RuledOut(evidence);
    }
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::OneBackend,
        gains: vec![Gain::new(case.token_ns(), between.low() * 0.2, between.high() * 0.9)],
        confidence: Confidence::Medium,
    })
}
