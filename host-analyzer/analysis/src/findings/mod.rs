//! Findings: what would make the engine faster on this board, by how much, and what was ruled out.
//!
//! Stage: after the results. From: the model and [`Analysis`]. To: [`Findings`], typed evidence;
//! `views` makes the sentences. Promises: each [`Rule`] gives exactly one [`Verdict`]. A rule
//! without the required data reports that and never guesses. Rules judge the calls of one question of the
//! ladder: what the session is about. A gain is an interval that contains
//! the effect of the remedy; `ci/causes.sh` applies remedies and verifies this.

mod case;
mod evidence;
mod gain;
pub mod rules;

use crate::Analysis;
use crate::ladder::{HEADLINE, NAMED, Question, StepKind};
use crate::results::ceiling::NoCeiling;
pub use case::{Case, Headline, Texts};
pub use evidence::{Evidence, Place, Value};
pub use gain::{Gain, Speeds};
use profinfer_trace::model::Model;
pub use rules::{RULES, Remedy};

/// A cause that slows engines down, and how to detect it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable name, for scripts.
    pub code: &'static str,
    /// What is checked, in a few words that also fit a cause that is absent.
    pub topic: &'static str,
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
    /// Questions whose calls it can judge. If a session is about another one, the verdict is
    /// [`Verdict::DoesNotApply`].
    pub questions: &'static [Question],
    /// Data that the rule requires. If any is missing, the verdict is [`Verdict::NotEnoughData`].
    pub requires: &'static [Requirement],
    /// The steps of a ladder that hold the time of the cause, or of the work that it makes slower.
    pub steps: fn(Question, StepKind) -> bool,
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
    /// The session lacks the rule's subject: experts, a draft model, generated text.
    DoesNotApply,
}

/// A cause that is present.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Most telling number first.
    pub evidence: Vec<Evidence>,
    pub remedy: Remedy,
    /// Effects of the remedy, at most one for each question; empty where they are unknown.
    pub gains: Vec<Gain>,
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
    /// At least this many calls of the judged question.
    Calls(u64),
    /// At least this many completely captured ones of them.
    TracedCalls(u64),
    /// End probes: without them, work and the wait after it cannot be distinguished.
    Ends,
    /// All operators of all threads: no filter excludes any.
    AllOperators,
    /// The CPUs on which the operators of these calls ran: some direct probes do not record them.
    Cpus,
    /// A level of the recording.
    Level(&'static str),
    /// A ceiling for the threads of these calls; of a rule.
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
    /// Tokens that the engine generates without guesses, for a comparison.
    PlainTokens,
    /// A record of what the delays come from that the ladder shows.
    Culprit,
    /// The speed of another type of weights.
    OtherType,
    /// A recording with keys of another type.
    OtherKvType,
    /// Eight calls with texts of different lengths.
    TextLengths,
    /// The tokens of prompts, which no recording has.
    Prompts,
    /// A recording without the programs that ran on other CPUs, or in which they come and go.
    WithoutNeighbours,
    /// The waits for backends that compute on their own.
    WaitsForBackends,
    /// Calls that have at least a quarter of the time between two readings of the steal time.
    StealReadings,
    /// Ladders with less than 2 % of time that no record explains.
    Explained,
    /// Records of interrupts.
    Interrupts,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub rule: &'static Rule,
    pub found: Found,
    /// By question, the largest effect on the session first. Empty where no time is known that
    /// becomes shorter.
    pub effects: Vec<Effect>,
}

/// What a finding is about in one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    pub question: Question,
    /// Share of the question's time, 0 to 1.
    pub share: f64,
    /// `share` is the time of causes on the ladder. Otherwise it is that of the gain.
    pub observed: bool,
    /// Of all units, ns.
    pub ns: u64,
    /// Per unit; `None` where it is unknown.
    pub gain: Option<Gain>,
    /// Positions of the steps in the ladder of this question.
    pub steps: Vec<u64>,
}

impl Finding {
    /// Gain of the question in which the remedy saves most.
    #[must_use]
    pub fn gain(&self) -> Option<Gain> {
        self.effects.first().and_then(|e| e.gain)
    }

    /// A large part of a question's time was seen to be lost by it, and that matters in this
    /// session.
    fn is_in_headline(&self, session_ns: u64) -> bool {
        let matters = |e: &Effect| e.ns as f64 >= session_ns as f64 * NAMED;
        self.effects.iter().any(|e| e.observed && e.share >= HEADLINE && matters(e))
    }
}

/// All findings of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Speed, and its relation to the ceiling.
    pub headline: Headline,
    /// Present causes: those that were seen to take a large part of a question's time, then those
    /// with a gain, then the others; the largest effect on the session first.
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
        if !self.questions.contains(&case.headline.question) {
            return Verdict::DoesNotApply;
        }
        let missing: Vec<_> = self.requires.iter().filter(|r| !case.has(r)).cloned().collect();
        if missing.is_empty() { (self.judge)(case) } else { Verdict::NotEnoughData(missing) }
    }
}

impl Findings {
    #[must_use]
    pub fn compute(model: &Model, analysis: &Analysis) -> Self {
        let case = Case::new(model, analysis);
        let mut all = Self { headline: case.headline.clone(), ..Self::default() };
        let verdicts: Vec<_> = RULES.iter().map(|rule| (*rule, rule.verdict(&case))).collect();
        let found = verdicts.iter().filter(|(_, v)| matches!(v, Verdict::Found(_)));
        let found: Vec<&'static Rule> = found.map(|(rule, _)| *rule).collect();
        for (rule, verdict) in verdicts {
            match case.checked(rule, verdict, &found) {
                Verdict::Found(found) => {
                    let effects = case.effects(rule, &found.gains);
                    all.found.push(Finding { rule, found, effects });
                }
                Verdict::RuledOut(evidence) => all.ruled_out.push((rule, evidence)),
                Verdict::Noisy(evidence) => all.noisy.push((rule, evidence)),
                Verdict::NotEnoughData(missing) => {
                    let missing = missing.into_iter().map(|m| case.with_reason(m)).collect();
                    all.not_known.push((rule, missing));
                }
                Verdict::DoesNotApply => {}
            }
        }
        let session_ns = case.session_ns();
        all.found.sort_by_key(|f| {
            let effect = f.effects.iter().map(|e| e.ns).fold(0, u64::saturating_add);
            let first = (f.is_in_headline(session_ns), f.gain().is_some(), effect);
            (std::cmp::Reverse(first), f.found.confidence, f.rule.code)
        });
        all
    }
}
