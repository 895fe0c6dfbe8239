//! `speculative`: drafts and their verification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Speculative decoding with one draft and one target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Speculative {
    /// Process.
    pub pid: u32,
    /// Address of the draft's context in hex.
    pub draft: Option<String>,
    /// Address of the target's context in hex.
    pub target: Option<String>,
    /// Calls of the target behind guesses.
    pub rounds: u64,
    /// Those of them whose outcome is not known.
    pub open_rounds: u64,
    /// Guesses that were verified, in all rounds.
    pub drafted: u64,
    /// Guesses that were accepted, in rounds whose outcome is known.
    pub accepted: u64,
    /// Tokens that came out of those: the accepted ones, and one more a round.
    pub emitted: u64,
    /// Accepted of those that were verified, in rounds whose outcome is known; `null` without any.
    pub accepted_share: Option<f64>,
    /// Mean number of tokens that come out of a round.
    pub emitted_per_round: Option<f64>,
    /// How often a guess was accepted, by its position.
    pub positions: Vec<DraftPosition>,
    /// What verifying costs, by number of guesses.
    pub verified: Vec<Verified>,
    /// Median time of the draft's calls for one guess, ns: over rounds, their time divided by the
    /// guesses.
    pub draft_token_ns: Option<u64>,
    /// The target without a draft, where that is known.
    pub plain: Option<Plain>,
    /// Time of the draft for a guess divided by the target's for a token.
    pub draft_ratio: Option<f64>,
    /// What a round costs, in tokens that the target makes in that time without a draft; at least
    /// so much where `plain` is told by bounds, and so are all figures that divide by it.
    pub break_even_per_round: Option<f64>,
    /// More tokens come out of a round than that; `null` where it depends on which of the bounds is
    /// nearer.
    pub wins: Option<bool>,
    /// Tokens per second of calls: those of a round divided by what a round costs.
    pub tokens_per_s: Option<f64>,
    /// The same without a draft.
    pub plain_tokens_per_s: Option<f64>,
}

/// Guesses of one position, in rounds whose outcome is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DraftPosition {
    /// 1 is the first guess of a round.
    pub position: u32,
    /// Rounds that had it.
    pub drafted: u64,
    /// Rounds that accepted it.
    pub accepted: u64,
    /// Part of them.
    pub accepted_share: f64,
}

/// Calls of the target with so many guesses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Guesses.
    pub drafted: u32,
    /// Rounds.
    pub rounds: u64,
    /// Median length of the call, ns.
    pub median_ns: u64,
    /// Divided by the target's time for one token.
    pub verify_ratio: Option<f64>,
}

/// How long the target takes for one token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plain {
    /// Median length of a call, the estimate, or `high_ns`, ns.
    pub ns: u64,
    /// It takes at least so long, ns; `ns` where it was measured.
    pub low_ns: u64,
    /// It takes at most so long, ns; `ns` where it was measured.
    pub high_ns: u64,
    /// Calls of the target with one token.
    pub calls: u64,
    /// What it was told by.
    pub by: ToldBy,
}

/// What a time is told by, the surest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToldBy {
    /// Calls with one token.
    Calls,
    /// A straight line through the calls with more tokens.
    Line,
    /// The shortest call with more tokens, and the longest one divided by its tokens.
    #[default]
    Bounds,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
