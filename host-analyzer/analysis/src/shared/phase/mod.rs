//! What each token call was for.
//!
//! Stage: analysis. From: tokens, positions and rows of logits of every token call. To: one [`Phase`] per token call and per
//! graph call, and what it was told by. Promises: where logits and positions are not known, the division is that of the engine's
//! own timings, and [`Evidence::Tokens`] says so.

mod draft;
mod logits;
mod warm_up;

use super::context::{Context, contexts};
use super::tracing::Tracing;
pub use draft::{Pair, Role};
use profinfer_trace::model::{LlamaCallId, Model};

/// What a call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// A prompt is read: logits for fewer tokens than it has.
    Prefill,
    /// One token: the answer is written.
    Decode,
    /// Several tokens behind others, each with logits: parallel sequences are continued, or a draft is verified.
    BatchDecode,
    /// A call of a draft model, which guesses for a target.
    Draft,
    /// A trial of the engine's own, before its first prompt.
    WarmUp,
    /// The number of tokens is not known, or a graph ran outside of a token call.
    Unknown,
}

/// What a phase was told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Rows of logits against tokens.
    Logits,
    /// The positions of this call and of the next one.
    Positions,
    /// The order of the calls of two contexts.
    Contexts,
    /// The number of tokens alone: a verified draft, or parallel sequences, would be called prefill.
    Tokens,
}

impl Phase {
    /// All phases, in the order of [`Phase::index`].
    pub const ALL: [Self; 6] =
        [Self::Prefill, Self::Decode, Self::BatchDecode, Self::Draft, Self::WarmUp, Self::Unknown];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The phase of a call of which only the number of tokens is known; 0 stands for not known.
    ///
    /// It is the rule of the engine: `llama_context::synchronize` adds the time of a call to `t_eval_us`
    /// when `n_queued_tokens == 1`, and to `t_p_eval_us` (prompt evaluation) when it is more.
    #[must_use]
    pub const fn new(n_tokens: u32) -> Self {
        match n_tokens {
            0 => Self::Unknown,
            1 => Self::Decode,
            _ => Self::Prefill,
        }
    }

    /// The phase of a call that has logits for so many of its tokens. Behind nothing, several tokens are a prompt, whatever logits
    /// are wanted of it.
    const fn of_logits(n_tokens: u32, rows: u64, n_past: Option<u32>) -> Self {
        match n_tokens {
            0 => Self::Unknown,
            n if rows < n as u64 => Self::Prefill,
            1 => Self::Decode,
            _ if matches!(n_past, Some(0)) => Self::Prefill,
            _ => Self::BatchDecode,
        }
    }

    /// Whether a call generates tokens, so that its time begins with the choice of the tokens that it has.
    #[must_use]
    pub const fn generates(self) -> bool {
        matches!(self, Self::Decode | Self::BatchDecode | Self::Draft)
    }

    /// Name in data and views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::BatchDecode => "batch_decode",
            Self::Draft => "draft",
            Self::WarmUp => "warm_up",
            Self::Unknown => "unknown",
        }
    }

    /// Position in [`Phase::ALL`], for arrays indexed by phase.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Phases of all calls.
#[derive(Debug, Clone, Default)]
pub struct Phases {
    /// By row of the token calls.
    pub llama_calls: Vec<Phase>,
    /// What each was told by.
    pub evidence: Vec<Evidence>,
    /// By row of the token calls: what each attends to.
    pub(crate) contexts: Vec<Context>,
    /// By row of the token calls: how many of its tokens have logits; `None` when not known.
    pub logits: Vec<Option<u64>>,
    /// By row of the graph calls: the phase of the token call around each.
    pub graph_calls: Vec<Phase>,
    /// Contexts that guess and verify.
    pub pairs: Vec<Pair>,
    /// By row of the token calls: its part in speculative decoding.
    pub roles: Vec<Role>,
    /// Which calls have their operators.
    pub tracing: Tracing,
}

impl Phases {
    /// The phases of a session.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let contexts = contexts(model);
        let logits = logits::rows(model);
        let warm_ups = warm_up::warm_ups(model, &contexts);
        let (pairs, roles) = draft::pairs(model, &contexts, &logits, &warm_ups);
        let told = |i: usize| {
            let n_tokens = model.llama_calls.n_tokens[i];
            match (warm_ups[i], roles[i], logits[i]) {
                (true, ..) => (Phase::WarmUp, Evidence::Positions),
                (_, Role::Draft, _) => (Phase::Draft, Evidence::Contexts),
                (.., Some(rows)) => (Phase::of_logits(n_tokens, rows, contexts[i].n_past), Evidence::Logits),
                _ => (Phase::new(n_tokens), Evidence::Tokens),
            }
        };
        let (llama_calls, evidence): (Vec<Phase>, _) = (0..model.llama_calls.len()).map(told).unzip();
        let around = |d: &Option<LlamaCallId>| d.map_or(Phase::Unknown, |d| llama_calls[d.0 as usize]);
        let graph_calls = model.graph_calls.decode.iter().map(around).collect();
        Self {
            llama_calls,
            evidence,
            contexts,
            logits,
            graph_calls,
            pairs,
            roles,
            tracing: Tracing::compute(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_logits_one_token_is_decode_and_more_are_prefill() {
        assert_eq!(
            [0, 1, 2, 512].map(Phase::new),
            [Phase::Unknown, Phase::Decode, Phase::Prefill, Phase::Prefill]
        );
    }

    #[test]
    fn logits_tell_a_prompt_from_a_batch() {
        let of = |n_tokens, rows| Phase::of_logits(n_tokens, rows, Some(9));
        // A prompt, a part of it that is not the last, and a last part of one token.
        assert_eq!([of(8, 1), of(512, 0), of(1, 1)], [Phase::Prefill, Phase::Prefill, Phase::Decode]);
        // A token that is read and answered by nothing.
        assert_eq!(of(1, 0), Phase::Prefill);
        assert_eq!([of(2, 2), of(5, 5), of(5, 4)], [Phase::BatchDecode, Phase::BatchDecode, Phase::Prefill]);
        // A text that is scored from its beginning.
        assert_eq!(Phase::of_logits(64, 64, Some(0)), Phase::Prefill);
        assert_eq!(Phase::of_logits(3, 3, None), Phase::BatchDecode);
        assert_eq!(Phase::of_logits(0, 0, None), Phase::Unknown);
    }

    #[test]
    fn index_is_the_position_in_all() {
        assert!(Phase::ALL.iter().enumerate().all(|(i, p)| p.index() == i));
    }
}
