//! Phase of each `llama_decode` call.
//!
//! Stage: analysis. From: tokens, positions and logits rows of every call. To: one [`Phase`] per
//! `llama_decode` call and per graph call, with the evidence for it. Promises: where logits and
//! positions are unknown, the phases follow the engine's own timings, marked [`Evidence::Tokens`].

mod cached;
mod draft;
mod hypotheses;
pub(crate) mod logits;
mod parts;
mod replay;
mod steps;
mod warm_up;

use super::branches::root;
use super::context::{Context, contexts};
use super::share::{SequenceShare, shares};
use super::tracing::Tracing;
pub use draft::{Pair, Role};
use profinfer_trace::model::{DecodeFunction, Model};
pub(crate) use steps::one_each;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Reads a prompt: logits for fewer tokens than it has, or its only token that was not cached.
    Prefill,
    /// One token: generates text.
    #[default]
    Decode,
    /// Several tokens after others, each with logits: parallel sequences, or verification of a
    /// draft; also the accepted tokens of a draft that are computed again.
    BatchDecode,
    /// A call of a draft model, which predicts tokens for a target.
    Draft,
    /// A trial call of the engine, before its first prompt.
    WarmUp,
    /// A graph that takes no tokens: of an encoder of images or sound, or of another computation than text.
    Encode,
    /// Unknown number of tokens, or a graph outside of `llama_decode` calls that takes tokens.
    Unknown,
}

/// What determined a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Rows of logits compared with tokens.
    Logits,
    /// The positions and sequences of this call, and of the next one.
    Positions,
    /// The order of the calls of two contexts.
    Contexts,
    /// The number of tokens alone. Verification and parallel sequences then count as prefill.
    Tokens,
}

impl Phase {
    /// All phases, in the order of [`Phase::index`].
    pub const ALL: [Self; 7] = [
        Self::Prefill,
        Self::Decode,
        Self::BatchDecode,
        Self::Draft,
        Self::WarmUp,
        Self::Encode,
        Self::Unknown,
    ];

    pub const COUNT: usize = Self::ALL.len();

    /// The phase of a call if only its number of tokens is known; 0 means unknown.
    ///
    /// This is the rule of the engine: `llama_context::synchronize` adds the time of a call to
    /// `t_eval_us` when `n_queued_tokens == 1`, and to `t_p_eval_us` (prompt evaluation) when it is
    /// more.
    #[must_use]
    pub const fn new(n_tokens: u32) -> Self {
        match n_tokens {
            0 => Self::Unknown,
            1 => Self::Decode,
            _ => Self::Prefill,
        }
    }

    /// The phase of a call with logits for `rows` of its tokens. At position 0, several tokens are
    /// a prompt, no matter how many have logits.
    const fn of_logits(n_tokens: u32, rows: u64, n_past: Option<u32>) -> Self {
        match n_tokens {
            0 => Self::Unknown,
            n if rows < n as u64 => Self::Prefill,
            1 => Self::Decode,
            _ if matches!(n_past, Some(0)) => Self::Prefill,
            _ => Self::BatchDecode,
        }
    }

    /// Whether a call generates tokens, so that its time begins with sampling the tokens that it
    /// has.
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
            Self::Encode => "encode",
            Self::Unknown => "unknown",
        }
    }

    /// Position in [`Phase::ALL`], for arrays indexed by phase.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[derive(Debug, Clone, Default)]
pub struct Phases {
    /// By row of `llama_calls`.
    pub llama_calls: Vec<Phase>,
    /// What determined each phase, by row of `llama_calls`.
    pub evidence: Vec<Evidence>,
    /// What each call attends to, by row of `llama_calls`.
    pub(crate) contexts: Vec<Context>,
    /// Number of tokens with logits, by row of `llama_calls`; `None` when unknown.
    pub logits: Vec<Option<u64>>,
    /// By row of the graph calls: the phase of the `llama_decode` call around each.
    pub graph_calls: Vec<Phase>,
    /// Draft and target contexts.
    pub pairs: Vec<Pair>,
    /// Role in speculative decoding, by row of `llama_calls`.
    pub roles: Vec<Role>,
    /// Calls that compute accepted guesses again, by row of `llama_calls`.
    pub replays: Vec<bool>,
    /// The draft's calls that read the same batch, by row of `llama_calls`.
    pub(crate) draft_reads: Vec<Vec<usize>>,
    /// The phase of most calls that give each of their sequences its next token:
    /// [`Phase::BatchDecode`] if most of them have several sequences, else [`Phase::Decode`].
    pub decode: Phase,
    /// Which calls have their operators.
    pub tracing: Tracing,
}

impl Phases {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let contexts = contexts(model);
        let logits = logits::rows(model);
        let warm_ups = warm_up::warm_ups(model, &contexts);
        let (pairs, roles) = draft::pairs(model, &contexts, &logits, &warm_ups);
        let draft_reads = draft::reads(model, &pairs, &roles, &logits);
        let replays = replay::replays(model, &contexts, &logits);
        let hypotheses = hypotheses::phases(model, &contexts);
        let cached = cached::begin_with_one_token(model, &contexts, &logits);
        let later_parts = parts::later(model, &contexts, &logits);
        let is_search = |i: usize| root(&model.parts, model.parts.of_row(i)).is_some();
        let classify = |i: usize| {
            let n_tokens = model.llama_calls.n_tokens[i];
            if let Some(phase) = hypotheses[i] {
                return (phase, Evidence::Tokens);
            }
            match (warm_ups[i], roles[i], logits[i]) {
                _ if encodes(model, i) => (Phase::Encode, Evidence::Tokens),
                (true, ..) => (Phase::WarmUp, Evidence::Positions),
                (_, Role::Draft, _) => (Phase::Draft, Evidence::Contexts),
                (_, Role::None, _) if replays[i] => (Phase::BatchDecode, Evidence::Positions),
                (_, Role::None, _) if is_search(i) => (Phase::BatchDecode, Evidence::Positions),
                (_, Role::None, _) if cached[i] || later_parts[i] => (Phase::Prefill, Evidence::Positions),
                (.., Some(rows)) => (Phase::of_logits(n_tokens, rows, contexts[i].n_past), Evidence::Logits),
                _ => (Phase::new(n_tokens), Evidence::Tokens),
            }
        };
        let (llama_calls, evidence): (Vec<Phase>, _) = (0..model.llama_calls.len()).map(classify).unzip();
        let graph_calls = (0..model.graph_calls.len()).map(|i| of_graph(model, &llama_calls, i)).collect();
        let decode = steps::main_phase(model, &llama_calls, &roles);
        Self {
            llama_calls,
            evidence,
            contexts,
            logits,
            graph_calls,
            pairs,
            roles,
            decode,
            replays,
            draft_reads,
            tracing: Tracing::compute(model),
        }
    }
}

impl Phases {
    /// The tokens of a call by sequence, by its row.
    pub(crate) fn shares(&self, model: &Model, call: usize) -> Vec<SequenceShare> {
        shares(model, call, self.contexts[call].n_past, self.logits[call])
    }
}

/// Whether a call is a graph that takes no tokens.
fn encodes(model: &Model, call: usize) -> bool {
    model.llama_calls.function[call] == DecodeFunction::Graph && model.llama_calls.n_tokens[call] == 0
}

/// The phase of a graph: that of the call around it.
fn of_graph(model: &Model, phases: &[Phase], graph: usize) -> Phase {
    let calls = &model.graph_calls;
    let outermost = calls.parent[graph].map_or(graph, |p| p.0 as usize);
    match calls.decode[graph] {
        Some(call) => phases[call.0 as usize],
        None if calls.n_tokens[outermost] == 0 => Phase::Encode,
        None => Phase::Unknown,
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
        // A token without logits.
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
