//! The prompt is read in small batches.

use super::super::case::MIN_GAIN_SHARE;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::ladder::{Ladder, Question, scatter};
use crate::replay::CallReplay;
use crate::results::ceiling::limit::Limit;
use crate::shared::phase::Phase;

pub(super) const RULE: Rule = Rule {
    code: "small_batches",
    topic: "prompt batches",
    title: "The prompt is read in small batches",
    question: "Why is a prompt hardly faster per token than the text that follows?",
    condition: "The engine reads a prompt in at least four batches of fewer than 64 tokens. Each of them reads all weights.",
    formula: "A batch costs a + b * tokens: a decode token and the batches of this recording give both. The gain is that of batches of 512 tokens, at least with this b, at most with the arithmetic at the board's limit of the operators that it bounds.",
    remedy: "Read prompts in larger batches: -b 2048 -ub 512, or the application's n_batch and n_ubatch.",
    source: "llama.cpp tools/main/README: --batch-size, --ubatch-size (defaults 2048 and 512)",
    questions: ANY,
    requires: &[],
    steps: |_, kind| {
        matches!(kind, StepKind::Floor | StepKind::AboveFloor | StepKind::Dispatch | StepKind::Preparation)
    },
    judge,
};

/// Fewest batches, and tokens from which on a batch is large: the time of reading the weights is
/// then a small part of it.
const BATCHES: u64 = 4;
const LARGE: u64 = 64;
/// The engine's default.
const UBATCH: u64 = 512;

fn judge(case: &Case<'_>) -> Verdict {
    let of = |question| case.ladder(question);
    let Some(prompt) = of(Question::Prompt) else { return Verdict::DoesNotApply };
    let calls = |phase: Phase| case.replayed(phase);
    let (tokens, batches) = batches(case, &calls(Phase::Prefill));
    if batches == 0 || prompt.units == 0 {
        return Verdict::DoesNotApply;
    }
    let size = tokens / batches;
    let mut evidence = vec![
        Evidence::new("tokens_per_batch", Value::Count(size), Place::Requests),
        Evidence::new("batches", Value::Count(batches), Place::Requests),
    ];
    if batches / prompt.units < BATCHES || size >= LARGE || size == 0 {
        return Verdict::RuledOut(evidence);
    }
    let single = calls(Phase::Decode);
    // Guesses, or several sequences, are read in batches of a few tokens.
    let decode = if single.is_empty() { calls(Phase::BatchDecode) } else { single };
    if decode.is_empty() {
        return Verdict::DoesNotApply;
    }
    let few = mean(&decode, |c| u64::from(case.model.llama_calls.n_tokens[c.call.0 as usize]));
    let single = mean(&decode, CallReplay::alone_ns);
    let all = calls(Phase::Prefill);
    let prompt_ns = mean(&all, CallReplay::undisturbed_ns) * all.len() as f64 / prompt.units as f64;
    let batch = prompt_ns * prompt.units as f64 / batches as f64;
    evidence.push(Evidence::new("batch_ns", Value::Nanoseconds(batch as u64), Place::Requests));
    evidence.push(Evidence::new("decode_token_ns", Value::Nanoseconds(single as u64), Place::Tokens));
    // a + b * few is a decode call, a + b * size a batch.
    let rise = size as f64 - few;
    let b = if rise > 0.0 { ((batch - single) / rise).clamp(0.0, single / few.max(1.0)) } else { 0.0 };
    let of_prompt = tokens as f64 / prompt.units as f64;
    let large = (of_prompt / UBATCH as f64).ceil() * (single - b * few);
    let (saved, most) = (prompt_ns - large - b * of_prompt, prompt_ns - large - least(prompt));
    if saved < prompt.unit_ns() as f64 * MIN_GAIN_SHARE {
        return Verdict::RuledOut(evidence);
    }
    // By the scatter of the decode calls and of the batches, which b is from.
    let uncertain = scatter(&decode).hypot(scatter(&all));
    let error = (large + b * of_prompt) * uncertain;
    let gain = Gain::of_request(prompt.unit_ns(), saved - error, most.max(saved) + error);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::LargerBatches { tokens: UBATCH },
        gains: vec![gain.with_likely(saved).in_other_sessions()],
        confidence: Confidence::Medium,
    })
}

/// Arithmetic of a prompt at the board's limit, ns. Where the memory bounds small batches, it is less than that and
/// not known: 0.
fn least(prompt: &Ladder) -> f64 {
    let parts = prompt.floor.as_ref().map_or(&[][..], |f| &f.parts);
    let bound = parts.iter().filter(|part| part.limit == Limit::Arithmetic);
    bound.map(|part| part.floor_ns as f64).sum::<f64>() / prompt.units.max(1) as f64
}

fn mean(calls: &[&CallReplay], of: impl Fn(&CallReplay) -> u64) -> f64 {
    calls.iter().map(|c| of(c) as f64).sum::<f64>() / calls.len().max(1) as f64
}

/// Tokens of these calls, and the batches in which the engine computed them: graphs.
fn batches(case: &Case<'_>, calls: &[&CallReplay]) -> (u64, u64) {
    let graphs = case.graphs_of_calls();
    let tokens = calls.iter().map(|c| u64::from(case.model.llama_calls.n_tokens[c.call.0 as usize])).sum();
    (tokens, calls.iter().map(|c| graphs[c.call.0 as usize]).sum())
}
