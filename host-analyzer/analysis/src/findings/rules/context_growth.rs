//! Attention over a long context takes its share.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{GENERATING, Remedy, kv_type};
use crate::ladder::StepKind;

pub(super) const RULE: Rule = Rule {
    code: "context_growth",
    topic: "context length",
    title: "The context costs its share",
    question: "Why does it become slower the longer the text is?",
    condition: "Operators grow with the number of KV cells (the complete 95 % interval of the slope is above 0), and the KV cells cost at least 10 % of a token in the mean.",
    formula: "Half of the KV cells that tokens had in the mean, by the slopes of these operators with their 95 % intervals, and by the spread between sessions.",
    remedy: "Keep less context: a smaller -c, shorter histories, summaries; a sliding window. A KV cache in f16 can be quantized (-ctk q8_0 -ctv q8_0 with -fa on): that halves what is read, if the processor is not the limit.",
    source: "llama.cpp #5021, #7372; ik_llama.cpp #51, #172",
    questions: GENERATING,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::AllOperators,
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

/// From this part of a token on.
const MUCH: f64 = 0.1;

fn judge(case: &Case<'_>) -> Verdict {
    let of_process = case.analysis.kv.iter().filter(|kv| kv.pid == case.pid);
    let longest =
        of_process.filter(|kv| kv.token.is_some()).max_by_key(|kv| kv.steps.last().map(|s| s.cells));
    let Some(kv) = longest else {
        // Attention over a context that hardly grows is the subject of another rule.
        return match case.mean_cells().zip(case.attention()) {
            Some(_) => Verdict::DoesNotApply,
            None => Verdict::NotEnoughData(vec![Requirement::ContextSteps]),
        };
    };
    let tokens: u64 = kv.steps.iter().map(|s| s.tokens).sum();
    let cells = kv.steps.iter().map(|s| s.cells.saturating_mul(s.tokens)).sum::<u64>() / tokens.max(1);
    // Of the operators that grow: a whole token's time has all disturbances in it.
    let growing = || kv.types.iter().map(|t| t.growth).filter(|g| g.grows);
    let slope: i64 = growing().map(|g| g.ns_per_1000_cells).sum();
    let (low, high): (i64, i64) =
        growing().map(|g| (g.low_ns, g.high_ns)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let of_cells = |ns_per_1000: i64| ns_per_1000.max(0) as f64 * cells as f64 / 1000.0;
    let now = of_cells(slope);
    let mut evidence = vec![
        Evidence::new("context_ns_per_token", Value::Nanoseconds(now as u64), Place::Context),
        Evidence::new("context_share", Value::Share(case.share(now)), Place::Context),
        Evidence::new("cells", Value::Count(cells), Place::Context),
        Evidence::new("ns_per_1000_cells", Value::Nanoseconds(slope.max(0).unsigned_abs()), Place::Context),
    ];
    if let Some(limit) = kv.at_limit {
        evidence.push(Evidence::new(
            "token_ns_with_full_context",
            Value::Nanoseconds(limit.token_ns),
            Place::Context,
        ));
    }
    if case.share(now) < MUCH {
        return Verdict::RuledOut(evidence);
    }
    // The remedy keeps half of the cells.
    let gain = case.gain(of_cells(low) / 2.0, of_cells(high) / 2.0).with_likely(now / 2.0);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::ShorterContext { cells: cells / 2, quantize: kv_type::may_quantize(case) },
        gains: vec![gain.in_other_sessions()],
        confidence: Confidence::High,
    })
}
