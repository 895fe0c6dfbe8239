//! Findings: what would make the engine faster on this board, by how much, and what was ruled out.
//!
//! Stage: after the results. From: the model and [`Analysis`]. To: [`Findings`], typed evidence;
//! `views` makes the sentences. Promises: each [`Rule`] gives exactly one [`Verdict`]. A rule
//! without the required data reports that and never guesses. A gain is an interval that contains
//! the effect of the remedy; `ci/causes.sh` applies remedies and verifies this.

mod case;
mod evidence;
mod gain;
pub mod rules;

use crate::Analysis;
use crate::results::ceiling::NoCeiling;
pub use case::{Case, Headline};
pub use evidence::{Evidence, Place, Value};
pub use gain::{Gain, Gains};
use profinfer_trace::model::Model;
pub use rules::{RULES, Remedy};

/// A cause that slows engines down, and how to detect it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable name, for scripts.
    pub code: &'static str,
    /// The cause in a few words.
    pub title: &'static str,
    /// The question of a user who observes it.
    pub question: &'static str,
    /// Condition for the finding, and what it measures.
    pub condition: &'static str,
    /// How the gain is computed.
    pub formula: &'static str,
    pub remedy: &'static str,
    /// Reference for the cause.
    pub source: &'static str,
    /// Data that the rule requires. If any is missing, the verdict is [`Verdict::NotEnoughData`].
    pub requires: &'static [Requirement],
    pub judge: fn(&Case<'_>) -> Verdict,
}

/// Result of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The cause is present.
    Found(Found),
    /// The cause is absent, or its cost does not matter; with the numbers that show it.
    RuledOut(Vec<Evidence>),
    /// Required data was not recorded.
    NotEnoughData(Vec<Requirement>),
    /// Inconclusive: the times vary so much from token to token, or their bounds are so far apart,
    /// that the cause may cost nothing and may also cost enough to matter.
    Noisy(Vec<Evidence>),
    /// The session lacks the rule's subject: experts, a draft model.
    DoesNotApply,
}

/// A cause that is present.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Most telling number first.
    pub evidence: Vec<Evidence>,
    pub remedy: Remedy,
    /// Effect of the remedy; `None` where it is unknown.
    pub gain: Option<Gain>,
    /// Confidence that the cause is present.
    pub confidence: Confidence,
}

/// Confidence of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Observed directly.
    High,
    /// Follows from observations, unless something unobserved interferes.
    Medium,
    /// One of several causes with the same symptoms.
    Low,
}

/// Data that a rule requires.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// At least this many decode calls.
    DecodeCalls(u64),
    /// At least this many completely captured decode calls.
    TracedCalls(u64),
    /// End probes: without them, work and the wait after it cannot be distinguished.
    Ends,
    /// All operators of all threads: no filter excludes any.
    AllOperators,
    /// The CPUs on which decode tokens' operators ran: some direct probes do not record them.
    Cpus,
    /// A level of the recording.
    Level(&'static str),
    /// A ceiling for the threads of the decode tokens; of a rule.
    Ceiling(&'static str),
    /// The same, of a verdict: with the reason why there is none.
    NoCeiling(&'static str, NoCeiling),
    /// A fact of the system.
    Fact(&'static str),
    Counter(&'static str),
    Gauge(&'static str),
    /// At least three steps of KV cells with eight tokens each.
    ContextSteps,
    /// Rounds of speculative decoding with a known outcome.
    Rounds,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub rule: &'static Rule,
    pub found: Found,
}

/// All findings of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Speed, and its relation to the ceiling.
    pub headline: Headline,
    /// Present causes, largest gain first, then those with unknown gain.
    pub found: Vec<Finding>,
    /// Ruled out, with the numbers.
    pub ruled_out: Vec<(&'static Rule, Vec<Evidence>)>,
    /// Inconclusive, because the session is too noisy.
    pub noisy: Vec<(&'static Rule, Vec<Evidence>)>,
    /// Not enough data.
    pub not_known: Vec<(&'static Rule, Vec<Requirement>)>,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Rule {
    fn verdict(&self, case: &Case<'_>) -> Verdict {
        let missing: Vec<_> = self.requires.iter().filter(|r| !case.has(r)).cloned().collect();
        if missing.is_empty() { (self.judge)(case) } else { Verdict::NotEnoughData(missing) }
    }
}

impl Findings {
    #[must_use]
    pub fn compute(model: &Model, analysis: &Analysis) -> Self {
        let case = Case::new(model, analysis);
        let mut all = Self { headline: case.headline.clone(), ..Self::default() };
        for rule in RULES {
            match rule.verdict(&case) {
                Verdict::Found(found) => all.found.push(Finding { rule, found }),
                Verdict::RuledOut(evidence) => all.ruled_out.push((rule, evidence)),
                Verdict::Noisy(evidence) => all.noisy.push((rule, evidence)),
                Verdict::NotEnoughData(missing) => {
                    let missing = missing.into_iter().map(|m| case.with_reason(m)).collect();
                    all.not_known.push((rule, missing));
                }
                Verdict::DoesNotApply => {}
            }
        }
        // The largest effect on the session first.
        let (tokens, requests) = (all.headline.tokens, analysis.token.requests.len() as u64);
        let effect = |f: &Finding| {
            f.found.gain.map_or(0, |g| match g.of {
                Gains::Token => g.likely_ns.saturating_mul(tokens),
                Gains::Request => g.likely_ns.saturating_mul(requests.max(1)),
            })
        };
        all.found.sort_by_key(|f| (std::cmp::Reverse(effect(f)), f.found.confidence, f.rule.code));
        all
    }
}
