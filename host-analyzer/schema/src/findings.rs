//! `findings`: what would help, and what was ruled out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bound::Confidence;
use super::evidence::{Evidence, Missing};
use super::ladder::Question;
use super::phase::Phase;
use super::remedy::Remedy;
use super::slowdown::Slowdown;

/// How fast the engine is, why not faster, what would help, what was ruled out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// How fast.
    pub headline: Headline,
    /// The headline in words.
    pub sentence: String,
    /// What would make it faster: first what was seen to take a large part of a question's time,
    /// then what has a gain, the largest effect on the session first.
    pub found: Vec<Finding>,
    /// What was ruled out, and by which numbers.
    pub ruled_out: Vec<RuledOut>,
    /// What run-to-run variation hides.
    pub noisy: Vec<RuledOut>,
    /// What cannot be decided from this recording.
    pub not_known: Vec<NotKnown>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable code of the rule (docs/findings.md).
    pub code: String,
    /// Title of the rule.
    pub title: String,
    /// What was found, in words.
    pub sentence: String,
    /// The evidence in words.
    #[serde(default)]
    pub observed: String,
    /// The remedy in words.
    #[serde(default)]
    pub action: String,
    /// The interval in which the remedy's effect lies, for the first of `effects`; `null` where it
    /// is not known.
    pub gain: Option<Gain>,
    /// By question (decode, prompt), the largest effect on the session first. Empty where no time
    /// is known that becomes shorter.
    #[serde(default)]
    pub effects: Vec<FindingEffect>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What to do.
    pub remedy: Remedy,
    /// The numbers, the decisive one first.
    pub evidence: Vec<Evidence>,
}

/// What a finding is about in one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingEffect {
    /// The question.
    pub question: Question,
    /// Share of the question's time, 0 to 1.
    pub share: f64,
    /// `share` is the time of causes on the ladder. Otherwise it is that of the gain.
    pub observed: bool,
    /// Of all units, ns.
    pub ns: u64,
    /// Per unit; `null` where it is not known.
    pub gain: Option<Gain>,
    /// Positions of the steps that the finding is about in the ladder of this question and process.
    pub steps: Vec<u64>,
}

/// A cause that the numbers rule out, or that variation hides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuledOut {
    /// Stable code of the rule (docs/findings.md).
    pub code: String,
    /// What was checked, in a few words.
    #[serde(default)]
    pub topic: String,
    /// The verdict in words.
    pub sentence: String,
    /// The numbers.
    pub evidence: Vec<Evidence>,
}

/// A cause on which this recording cannot decide.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotKnown {
    /// Stable code of the rule (docs/findings.md).
    pub code: String,
    /// What was checked, in a few words.
    #[serde(default)]
    pub topic: String,
    /// The verdict in words.
    pub sentence: String,
    /// What was not recorded.
    pub missing: Vec<Missing>,
}

/// How fast, and how near to what this board can do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Headline {
    /// Question of the calls that the rules judge: what the session is about.
    #[serde(default)]
    pub question: Question,
    /// Number of these calls.
    #[serde(default)]
    pub calls: u64,
    /// Phase of the calls that the other figures are of.
    #[serde(default)]
    pub phase: Phase,
    /// Decode tokens that the figures are of; one before which no call was recorded is left out. Where a
    /// call has several sequences, its tokens count as one.
    pub tokens: u64,
    /// Mean number of sequences that get a token from such a call; `null` for one.
    #[serde(default)]
    pub sequences: Option<f64>,
    /// Texts that are only read; `null` if the engine generates.
    #[serde(default)]
    pub texts: Option<Texts>,
    /// The engine guesses tokens, with a draft model or from n-grams: `token_ns` and `tokens_per_s` are
    /// of the tokens that came out. All other figures are of tokens without guesses, of which there may
    /// be none.
    pub drafted: bool,
    /// Mean time of a decode token, sampling included, ns; `null` without one. Where calls have several
    /// sequences, each of them gets a token in this time.
    pub token_ns: Option<u64>,
    /// Tokens per second, of all sequences together.
    pub tokens_per_s: Option<f64>,
    /// Median time of a decode token, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile, ns.
    pub p95_ns: Option<u64>,
    /// The fewest of these tokens that together take half of their time.
    #[serde(default)]
    pub half_of_time: u64,
    /// Prompt tokens per second of prefill calls.
    pub prefill_tokens_per_s: Option<f64>,
    /// Threads that computed the judged calls together.
    pub threads: u64,
    /// Part of the memory's read ceiling that decode uses, by the mean time of a token, 0 to 1; `null`
    /// without a ceiling for this number of threads.
    pub mbu: Option<f64>,
    /// Part of a decode token that the probes take: without them it is shorter by that. Estimated;
    /// of all tokens, traced or not.
    pub probes_share: f64,
    /// Slowdown of decode calls by tracing.
    pub slowdown: Slowdown,
}

/// Texts that are only read: embeddings, reranking, perplexity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Texts {
    /// Number of texts.
    pub texts: u64,
    /// How often they were read: more than `texts` for a diffusion model, which reads a text in each step.
    pub reads: u64,
    /// Tokens that were read.
    pub tokens: u64,
    /// Calls that read them.
    pub calls: u64,
    /// Tokens per second of these calls.
    pub tokens_per_s: Option<f64>,
    /// Texts per second of these calls.
    pub texts_per_s: Option<f64>,
    /// Median time from the start of a text's first call to the end of its last, ns.
    pub median_ns: Option<u64>,
}

/// Time by which something becomes shorter, and the speed that follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// What becomes shorter.
    pub of: Gains,
    /// The same in words, for example `per token`, `until the first call of the program`.
    #[serde(default)]
    pub shortens: String,
    /// Least time that it becomes shorter by, ns.
    pub low_ns: u64,
    /// Most likely, ns.
    #[serde(default)]
    pub likely_ns: u64,
    /// Most, ns.
    pub high_ns: u64,
    /// Decode speed at the least gain, tokens per second of all sequences; `null` if it is another time that becomes
    /// shorter.
    pub low_tokens_per_s: Option<f64>,
    /// Decode speed at the most likely gain; `null` also if nearly nothing of a token is left.
    #[serde(default)]
    pub likely_tokens_per_s: Option<f64>,
    /// Decode speed at the largest gain; `null` also if nearly nothing of a token may be left.
    pub high_tokens_per_s: Option<f64>,
}

/// What becomes shorter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gains {
    /// A decode token.
    Token,
    /// The time to the first token of a request.
    Request,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
