//! Findings: what would make the engine faster on this board, by how much, and what was ruled out.
//!
//! Stage: behind the analyses. From: `model`, `analyses`. To: [`Findings`], typed evidence; the sentences are made in `views`.
//! Promises: each [`Rule`] gives exactly one [`Verdict`]; a rule that lacks what it needs says so and never guesses; a gain is an
//! interval in which the effect of the remedy lies, and it is held to that by tests that apply the remedy
//! (`tests/oracle/promise`).

mod case;
mod evidence;
mod gain;
pub mod rules;

use crate::Analysis;
pub use case::{Case, Headline};
pub use evidence::{Evidence, Place, Value};
pub use gain::{Gain, Gains};
use profinfer_trace::model::Model;
pub use rules::{RULES, Remedy};

/// A cause that slows engines down, and how to see it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable name, for scripts.
    pub code: &'static str,
    /// The cause in a few words.
    pub title: &'static str,
    /// What a user asks who has met it.
    pub question: &'static str,
    /// Under which condition it is found, and what is measured for it.
    pub condition: &'static str,
    /// How the gain is computed.
    pub formula: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Where it is known from.
    pub source: &'static str,
    /// What it needs of a session; without any of it the answer is [`Verdict::NotEnoughData`].
    pub needs: &'static [Missing],
    /// Decides.
    pub judge: fn(&Case<'_>) -> Verdict,
}

/// What a rule came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The cause is there.
    Found(Found),
    /// It is not there, or costs nothing that matters; by these numbers.
    RuledOut(Vec<Evidence>),
    /// What the rule needs was not recorded.
    NotEnoughData(Vec<Missing>),
    /// It cannot be told: the times differ so much from token to token, or their bounds lie so far apart, that the cause may cost nothing
    /// and may cost what matters.
    Noisy(Vec<Evidence>),
    /// The rule is about something that this session does not have: experts, a draft model.
    DoesNotApply,
}

/// A cause that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Numbers that show it, the most telling first.
    pub evidence: Vec<Evidence>,
    /// What to do.
    pub remedy: Remedy,
    /// What that brings; `None` where it cannot be told.
    pub gain: Option<Gain>,
    /// How sure it is that the cause is there.
    pub confidence: Confidence,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Seen directly.
    High,
    /// Follows from what was seen, unless something unseen interferes.
    Medium,
    /// One of several causes that would look like this.
    Low,
}

/// What a rule needs and does not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// Decode calls, at least so many.
    DecodeCalls(u64),
    /// Decode calls whose operators were captured whole, at least so many.
    TracedCalls(u64),
    /// The ends of operators: without them work and the wait behind it are not told apart.
    Ends,
    /// All operators of all threads: no filter leaves any out.
    AllOperators,
    /// The CPUs on which decode tokens' operators ran: some direct probes do not tell them.
    Cpus,
    /// A level of the recording.
    Level(&'static str),
    /// A ceiling.
    Ceiling(&'static str),
    /// A fact of the system.
    Fact(&'static str),
    /// A counter.
    Counter(&'static str),
    /// A gauge.
    Gauge(&'static str),
    /// At least three steps of the KV cache's cells with eight tokens each.
    ContextSteps,
    /// Rounds of speculative decoding whose outcome is known.
    Rounds,
}

/// A finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its rule.
    pub rule: &'static Rule,
    /// What was found.
    pub found: Found,
}

/// All findings of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// How fast, and how near to the ceiling.
    pub headline: Headline,
    /// What was found, the largest gain first, then those whose gain cannot be told.
    pub found: Vec<Finding>,
    /// What was ruled out, and by which numbers.
    pub ruled_out: Vec<(&'static Rule, Vec<Evidence>)>,
    /// What could not be told as the session is too noisy.
    pub noisy: Vec<(&'static Rule, Vec<Evidence>)>,
    /// What could not be told for want of data.
    pub not_known: Vec<(&'static Rule, Vec<Missing>)>,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Rule {
    fn verdict(&self, case: &Case<'_>) -> Verdict {
        let missing: Vec<_> = self.needs.iter().filter(|need| !case.has(need)).cloned().collect();
        if missing.is_empty() { (self.judge)(case) } else { Verdict::NotEnoughData(missing) }
    }
}

impl Findings {
    /// The findings of a session.
    #[must_use]
    pub fn compute(model: &Model, analysis: &Analysis) -> Self {
        let case = Case::new(model, analysis);
        let mut all = Self { headline: case.headline.clone(), ..Self::default() };
        for rule in RULES {
            match rule.verdict(&case) {
                Verdict::Found(found) => all.found.push(Finding { rule, found }),
                Verdict::RuledOut(evidence) => all.ruled_out.push((rule, evidence)),
                Verdict::Noisy(evidence) => all.noisy.push((rule, evidence)),
                Verdict::NotEnoughData(missing) => all.not_known.push((rule, missing)),
                Verdict::DoesNotApply => {}
            }
        }
        let middle = |f: &Finding| f.found.gain.map_or(0, |g| g.low_ns / 2 + g.high_ns / 2);
        all.found.sort_by_key(|f| (std::cmp::Reverse(middle(f)), f.found.confidence, f.rule.code));
        all
    }
}
