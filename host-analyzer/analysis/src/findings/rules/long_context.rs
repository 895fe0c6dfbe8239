//! Attention over a context that is long from the start.

use super::super::case::MIN_CALLS;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy, kv_type};
use crate::ladder::StepKind;

pub(super) const RULE: Rule = Rule {
    code: "long_context",
    topic: "length of the context",
    title: "Attention over a long context",
    question: "Why is every token slow after a long prompt?",
    condition: "Tokens attend to at least 1,000 KV cells in the mean, their number hardly grows in this recording, and the operators of the attention take at least 10 % of a token.",
    formula: "Half of the time of these operators, as for half of the KV cells, less what is likely due to the type of the cache (`kv_type`). What each of them takes without KV cells is at most the mean of the fastest operators.",
    remedy: "Keep less context: a shorter prompt, summaries, a sliding window. Try flash attention (-fa on), and with it a KV cache in q8_0 instead of f16.",
    source: "llama.cpp #5021, #7372; ik_llama.cpp #51",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_CALLS),
        Requirement::Ends,
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

/// Cells from which on a context is long.
const LONG: u64 = 1_000;
/// From this part of a token on.
const MUCH: f64 = 0.1;
/// Relative error of a replayed time.
const ERROR: f64 = 0.03;

fn judge(case: &Case<'_>) -> Verdict {
    let grows = case.analysis.kv.iter().any(|kv| kv.pid == case.pid && kv.token.is_some());
    let (Some(cells), false) = (case.mean_cells(), grows) else { return Verdict::DoesNotApply };
    let Some(attention) = case.attention() else {
        return Verdict::NotEnoughData(vec![Requirement::TracedCalls(MIN_CALLS)]);
    };
    let ns = attention.work_ns;
    let evidence = vec![
        Evidence::new("attention_ns_per_token", Value::Nanoseconds(ns as u64), Place::Operators),
        Evidence::new("attention_share", Value::Share(case.share(ns)), Place::Operators),
        Evidence::new("cells", Value::Count(cells), Place::Context),
    ];
    if cells < LONG || case.share(ns) < MUCH {
        return Verdict::RuledOut(evidence);
    }
    let by_length = (ns - kv_type::likely_ns(case)).max(0.0);
    let least = (by_length - attention.constant_ns).max(0.0) / 2.0;
    let gain = case.gain(least - ns * ERROR, by_length / 2.0 + ns * ERROR).in_other_sessions();
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::ShorterContext { cells: cells / 2, quantize: kv_type::may_quantize(case) },
        gains: vec![gain],
        confidence: Confidence::High,
    })
}
