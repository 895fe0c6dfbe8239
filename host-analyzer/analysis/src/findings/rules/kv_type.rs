//! The type of the keys is slower to read than that of the values.

use super::super::case::{MIN_GAIN_SHARE, MIN_TOKENS};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::Remedy;
use crate::ladder::StepKind;
use crate::shared::phase::Phase;

pub(super) const RULE: Rule = Rule {
    code: "kv_type",
    topic: "type of the KV cache",
    title: "The type of the KV cache has no fast kernel here",
    question: "Why does a quantized KV cache make it slower?",
    condition: "Without flash attention, the keys are quantized, and the product with them takes at least 1.5 times as long as the product with the values, which has as many operations.",
    formula: "The difference of both products, as keys of the values' type would take as long as the values: 10 % of both less or more.",
    remedy: "Use f16 keys (no -ctk), or q8_0 for keys and values with flash attention (-fa on -ctk q8_0 -ctv q8_0).",
    source: "llama.cpp #7412, #11352: quantized KV caches need flash attention to pay",
    requires: &[
        Requirement::DecodeCalls(MIN_TOKENS),
        Requirement::TracedCalls(MIN_TOKENS),
        Requirement::Ends,
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

/// Ratio of its time to that of the other product.
const LONGER: f64 = 1.5;
/// Scatter of single operators.
const ERROR: f64 = 0.1;

fn judge(case: &Case<'_>) -> Verdict {
    let operators = case.analysis.op.operators.iter();
    let products = operators.filter(|o| o.pid == case.pid && o.phase == Phase::Decode && o.op == "MUL_MAT");
    let (mut keys, mut values, mut dtype) = (0_u64, 0_u64, None);
    for product in products {
        let Some(cache) = product.src.first() else { continue };
        if cache.name.contains("cache_k") {
            keys = keys.saturating_add(product.work_ns);
            dtype = Some(cache.dtype.clone());
        } else if cache.name.contains("cache_v") {
            values = values.saturating_add(product.work_ns);
        }
    }
    let (Some(dtype), true) = (dtype, keys > 0 && values > 0) else { return Verdict::DoesNotApply };
    let per_token = |ns: u64| ns as f64 / (case.headline.threads.max(1) as f64 * case.traced_tokens());
    let (keys, values) = (per_token(keys), per_token(values));
    let evidence = vec![
        Evidence::new("type_of_keys", Value::Name(dtype.clone()), Place::Operators),
        Evidence::new("keys_ns_per_token", Value::Nanoseconds(keys as u64), Place::Operators),
        Evidence::new("values_ns_per_token", Value::Nanoseconds(values as u64), Place::Operators),
    ];
    let quantized = !["f16", "bf16", "f32"].contains(&&*dtype);
    let more = keys - values;
    if !quantized || keys < values * LONGER || case.share(more) < MIN_GAIN_SHARE {
        return Verdict::RuledOut(evidence);
    }
    let error = (keys + values) * ERROR;
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::KvType,
        gains: vec![Gain::new(case.token_ns(), more - error, more + error)],
        confidence: Confidence::Medium,
    })
}
