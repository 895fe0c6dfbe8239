//! A prompt that was read before is read again.

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{Question, StepKind};
use crate::results::request::Request;
use crate::shared::memory::{Memory, memory};
use crate::shared::phase::Phase;

pub(super) const RULE: Rule = Rule {
    code: "prefix",
    topic: "repeated prompts",
    title: "The same prompt is read again",
    question: "Why does every request take as long as the first?",
    condition: "At least two requests, and four of five that follow another one in their sequence, begin at position 0 although the prompt is at least as long as everything that the sequence held before, an answer of several tokens included: a conversation that grows, read from its beginning each time. Prompts that begin at position 0 and are shorter may be others: the tokens are not recorded.",
    formula: "A request would read only what is new: without the tokens that the context held before, at the speed of its own prefill, as a mean over all prompts. New tokens attend to those before them, so of the attention only that among the held tokens is saved: the square of their share. At least without a decode token of that, as the new ones are read at once, with the weights; and with the spread between sessions.",
    remedy: "Keep the cache: `cache_prompt: true` with a stable beginning of the prompt; one slot for each conversation (--parallel, id_slot). A model with a sliding window needs --swa-full, one with a recurrent state needs --ctx-checkpoints.",
    source: "llama.cpp #3738, #7185, chat-ui #920, SillyTavern #1589",
    questions: ANY,
    requires: &[],
    steps: |_, kind| {
        matches!(kind, StepKind::Floor | StepKind::AboveFloor | StepKind::Imbalance | StepKind::Dispatch)
    },
    judge,
};

/// Time of the attention in prompts: in proportion to the tokens that their tokens attend to.
struct Attention {
    ns_per_pair: f64,
}

impl Attention {
    fn new(case: &Case<'_>, requests: &[Request]) -> Self {
        let with_time = || requests.iter().filter_map(|r| Some((r, r.ttft_ns?)));
        let all_ns = with_time().map(|(_, ns)| ns as f64).sum::<f64>();
        let pairs = with_time().map(|(r, _)| pairs(r)).sum::<f64>();
        Self { ns_per_pair: case.attention_share(Phase::Prefill) * all_ns / pairs.max(1.0) }
    }

    /// Of a request whose prompt took `ttft` ns.
    fn of(&self, request: &Request, ttft: u64) -> f64 {
        (self.ns_per_pair * pairs(request)).min(ttft as f64)
    }
}

/// What of a prompt of `ttft` ns is saved if this share of its tokens is held; `attention`: part of that time, ns.
fn saved(ttft: f64, attention: f64, share: f64) -> u64 {
    ((ttft - attention) * share + attention * share * share) as u64
}

/// Pairs of a token of the prompt and one that it attends to.
fn pairs(request: &Request) -> f64 {
    let tokens = request.prompt_tokens as f64;
    tokens * (request.reused.unwrap_or(0) as f64 + tokens / 2.0)
}

/// Shorter prompts are not worth a cache, tokens.
const LONG: u64 = 16;
/// Fewest tokens of an answer that the next prompt is to contain.
const ANSWER: u64 = 2;

fn judge(case: &Case<'_>) -> Verdict {
    // Texts have nothing in common with those before them.
    if case.headline.texts.is_some() {
        return Verdict::DoesNotApply;
    }
    let token = &case.analysis.token;
    let (mut from_the_beginning, mut again) = (0_u64, 0_u64);
    let (mut repeated, mut saved_ns, mut ttft_ns) = (0_u64, 0_u64, 0_u64);
    let mut compared = 0_u64;
    let attention = Attention::new(case, &token.requests);
    for (i, request) in token.requests.iter().enumerate() {
        let before = token.requests[..i]
            .iter()
            .rev()
            .find(|r| (&r.context, r.slot) == (&request.context, request.slot));
        let (Some(before), Some(ttft)) = (before, request.ttft_ns) else { continue };
        compared += 1;
        let held = u64::from(before.reused.unwrap_or(0)) + before.prompt_tokens + before.generated;
        // What a call of several slots attends to first is one slot's.
        let at = match request.slot {
            Some(_) => request.reused,
            None => token.calls.get(request.first_call as usize).and_then(|c| c.n_past),
        };
        if at != Some(0) || held < LONG {
            continue;
        }
        from_the_beginning += 1;
        // Without an answer of some length, other prompts would do as well.
        if before.generated >= ANSWER && request.prompt_tokens >= held {
            again += 1;
            repeated += held;
            ttft_ns = ttft_ns.saturating_add(ttft);
            let share = held as f64 / request.prompt_tokens.max(1) as f64;
            saved_ns = saved_ns.saturating_add(saved(ttft as f64, attention.of(request, ttft), share));
        }
    }
    let evidence = vec![
        Evidence::new("requests_from_the_beginning", Value::Count(from_the_beginning), Place::Requests),
        Evidence::new("requests", Value::Count(compared), Place::Requests),
        Evidence::new("tokens_read_again", Value::Count(repeated), Place::Requests),
    ];
    if compared == 0 {
        return Verdict::DoesNotApply;
    }
    if from_the_beginning * 5 < compared {
        return Verdict::RuledOut(evidence);
    }
    // Unrelated prompts are longer now and then.
    if again < 2 || again * 5 < compared * 4 {
        return Verdict::NotEnoughData(vec![Requirement::Prompts]);
    }
    // The others become no shorter.
    let (prompts, all_ns) = match case.ladder(Question::Prompt) {
        Some(ladder) => (ladder.units, ladder.measured_ns),
        None => (again, ttft_ns),
    };
    let per_prompt = |ns: u64| ns / prompts.max(1);
    let weights_ns = case.headline.token_ns.unwrap_or(0).saturating_mul(again);
    let saved = per_prompt(saved_ns) as f64;
    let least = per_prompt(saved_ns.saturating_sub(weights_ns)) as f64;
    let gain = Gain::of_request(per_prompt(all_ns), least, saved).with_likely(saved);
    Verdict::Found(Found {
        evidence,
        remedy: match memory(case.model, case.pid) {
            Memory::Cells => Remedy::CachePrompt,
            Memory::Window => Remedy::KeepWindow,
            Memory::State => Remedy::KeepState,
        },
        gains: vec![gain.in_other_sessions()],
        confidence: Confidence::Medium,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_tokens_attend_to_those_that_are_held() {
        // Of 400 tokens 300 are held. Each new one attends to 350 in the mean, of all tokens each to 200.
        assert_eq!(saved(1_600.0, 0.0, 0.75), 1_200);
        assert_eq!(saved(1_600.0, 1_600.0, 0.75), 1_600 - 1_600 * (100 * 350) / (400 * 200));
        assert_eq!(saved(1_000.0, 400.0, 0.5), 300 + 100);
    }
}
