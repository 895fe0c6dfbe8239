//! Prefill or decode.
//!
//! Stage: analysis. From: tokens per token call. To: one [`Phase`] per token call and per
//! graph call. Promises: the same division as the engine's own timings.

use serde::Serialize;

use crate::model::{DecodeId, Model};

/// What a call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Several tokens at once: a prompt is read.
    Prefill,
    /// One token: the answer is written.
    Decode,
    /// The number of tokens is not known, or a graph ran outside of a token call.
    Unknown,
}

impl Phase {
    /// All phases, in the order of [`Phase::index`].
    pub const ALL: [Self; 3] = [Self::Prefill, Self::Decode, Self::Unknown];

    /// The phase of a call with so many tokens; 0 stands for not known.
    ///
    /// It is the rule of the engine: `llama_context::synchronize` adds the time of a call to `t_eval_us`
    /// when `n_queued_tokens == 1`, and to `t_p_eval_us` (prompt evaluation) when it is more.
    #[must_use]
    pub const fn of(n_tokens: u32) -> Self {
        match n_tokens {
            0 => Self::Unknown,
            1 => Self::Decode,
            _ => Self::Prefill,
        }
    }

    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
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
    pub decodes: Vec<Phase>,
    /// By row of the graph calls: the phase of the token call around each.
    pub graph_calls: Vec<Phase>,
}

impl Phases {
    /// The phases of a session.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let decodes: Vec<_> = model.decodes.n_tokens.iter().map(|n| Phase::of(*n)).collect();
        let around = |d: &Option<DecodeId>| d.map_or(Phase::Unknown, |d| decodes[d.0 as usize]);
        let graph_calls = model.graph_calls.decode.iter().map(around).collect();
        Self { decodes, graph_calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_is_decode_and_more_are_prefill() {
        assert_eq!(
            [0, 1, 2, 512].map(Phase::of),
            [Phase::Unknown, Phase::Decode, Phase::Prefill, Phase::Prefill]
        );
    }

    #[test]
    fn index_is_the_position_in_all() {
        assert!(Phase::ALL.iter().enumerate().all(|(i, p)| p.index() == i));
    }
}
