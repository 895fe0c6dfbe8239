//! `findings`: what would help, and what was ruled out.

use super::Publish;
use crate::words;
use profinfer_analysis::findings::{self, Evidence, Found, Headline, Requirement, Rule};
use profinfer_analysis::ladder::Question;
use profinfer_schema as schema;

fields! {
    findings::Headline => Headline {
        question, calls, phase, tokens, sequences, texts, drafted, token_ns, tokens_per_s, median_ns, p95_ns, half_of_time,
        prefill_tokens_per_s, threads,
        mbu, probes_share, slowdown,
    }
    findings::Texts => Texts { texts, reads, tokens, calls, tokens_per_s, texts_per_s, median_ns }
    findings::Effect => FindingEffect { question, share, observed, ns, gain, steps }
}

names! {
    findings::Confidence => Confidence { High, Medium, Low }
}

impl Publish for findings::Gain {
    type Form = schema::Gain;

    fn publish(&self) -> Self::Form {
        let Self { question, low_ns, likely_ns, high_ns, .. } = *self;
        let speeds = self.speeds();
        let of = match question {
            Question::Decode => schema::Gains::Token,
            _ => schema::Gains::Request,
        };
        let shortens = words::findings::becomes_shorter(question).to_owned();
        schema::Gain {
            of,
            shortens,
            low_ns,
            likely_ns,
            high_ns,
            low_tokens_per_s: speeds.map(|s| s.low),
            likely_tokens_per_s: speeds.and_then(|s| s.likely),
            high_tokens_per_s: speeds.and_then(|s| s.high),
        }
    }
}

impl Publish for findings::Findings {
    type Form = schema::Findings;

    fn publish(&self) -> Self::Form {
        let Self { headline, found, ruled_out, noisy, not_known } = self;
        let verdicts = |rows: &[(&'static Rule, Vec<Evidence>)], sentence: Sentence| {
            rows.iter().map(|(rule, evidence)| verdict(rule, evidence, sentence)).collect()
        };
        schema::Findings {
            headline: headline.publish(),
            sentence: words::findings::headline(headline),
            found: found.publish(),
            ruled_out: verdicts(ruled_out, words::findings::ruled_out),
            noisy: verdicts(noisy, words::findings::noisy),
            not_known: not_known.iter().map(|(rule, missing)| unknown(rule, missing, headline)).collect(),
        }
    }
}

/// A verdict with its sentence.
type Sentence = fn(&Rule, &[Evidence]) -> String;

impl Publish for findings::Finding {
    type Form = schema::Finding;

    fn publish(&self) -> Self::Form {
        let Self { rule, found: Found { evidence, remedy, gains: _, confidence }, effects } = self;
        schema::Finding {
            code: rule.code.to_owned(),
            title: rule.title.to_owned(),
            sentence: words::findings::sentence(self),
            observed: words::findings::observed(self),
            action: words::findings::action(self),
            gain: self.gain().publish(),
            effects: effects.publish(),
            confidence: confidence.publish(),
            remedy: remedy.publish(),
            evidence: evidence.publish(),
        }
    }
}

fn verdict(rule: &Rule, evidence: &[Evidence], sentence: Sentence) -> schema::RuledOut {
    schema::RuledOut {
        code: rule.code.to_owned(),
        topic: rule.topic.to_owned(),
        sentence: sentence(rule, evidence),
        evidence: evidence.publish(),
    }
}

fn unknown(rule: &Rule, missing: &[Requirement], headline: &Headline) -> schema::NotKnown {
    schema::NotKnown {
        code: rule.code.to_owned(),
        topic: rule.topic.to_owned(),
        sentence: words::findings::not_known(rule, missing, headline),
        missing: missing.publish(),
    }
}
