//! Results beside which summary.json has a sentence.

use serde::Serialize;

use crate::words;
use profinfer_analysis::budget::{self, Class};
use profinfer_analysis::findings::{self, Confidence, Evidence, Gain, Headline, Missing, Remedy};
use profinfer_analysis::phase::Phase;
use profinfer_analysis::{ending, expert, gauge, health};

#[derive(Serialize)]
pub(super) struct Health<'a> {
    perfect: bool,
    lines: Vec<String>,
    #[serde(flatten)]
    figures: &'a health::Health,
}

impl<'a> Health<'a> {
    pub(super) fn of(figures: &'a health::Health) -> Self {
        Self { perfect: figures.perfect, lines: words::health::lines(figures), figures }
    }
}

/// How the session ended, with the sentence where there is one.
#[derive(Serialize)]
pub(super) struct Ending<'a> {
    #[serde(flatten)]
    figures: &'a ending::Ending,
    sentence: Option<String>,
}

impl<'a> Ending<'a> {
    pub(super) fn of(figures: &'a ending::Ending) -> Self {
        Self { figures, sentence: words::ending::sentence(figures) }
    }
}

/// The budget, with its classes in words.
#[derive(Serialize)]
pub(super) struct Budget<'a> {
    names: Vec<&'static str>,
    #[serde(flatten)]
    figures: &'a budget::Budget,
}

impl<'a> Budget<'a> {
    pub(super) fn of(figures: &'a budget::Budget) -> Self {
        Self { names: Class::ALL.map(words::budget::name).to_vec(), figures }
    }
}

#[derive(Serialize)]
pub(super) struct Routing<'a> {
    phase: Phase,
    pid: u32,
    context: Option<&'a str>,
    sentence: Option<String>,
    whole: &'a expert::Figures,
    layers: &'a [expert::RoutedLayer],
}

impl<'a> Routing<'a> {
    pub(super) fn of(r: &'a expert::Routing) -> Self {
        let expert::Routing { phase, pid, context, whole, layers } = r;
        let (context, sentence) = (context.as_deref(), words::experts::sentence(r));
        Self { phase: *phase, pid: *pid, context, sentence, whole, layers }
    }
}

#[derive(Serialize)]
pub(super) struct Gauge<'a> {
    name: &'a str,
    kind: &'static str,
    unit: &'static str,
    source: &'a str,
    period_ns: u64,
    attached: bool,
    note: &'a str,
    samples: u64,
    absent: u64,
    whole: Option<gauge::Figures>,
    decode: Option<gauge::Figures>,
    decode_bytes_per_token: Option<f64>,
    decode_tokens: u64,
}

impl<'a> Gauge<'a> {
    pub(super) fn of(g: &'a gauge::Gauge) -> Self {
        Self {
            name: &g.name,
            kind: g.kind,
            unit: g.unit,
            source: &g.source,
            period_ns: g.period_ns,
            attached: g.attached,
            note: words::gauge_note(&g.note),
            samples: g.samples,
            absent: g.absent,
            whole: g.whole,
            decode: g.decode,
            decode_bytes_per_token: g.decode_bytes_per_token,
            decode_tokens: g.decode_tokens,
        }
    }
}

/// The answer: how fast, why not faster, what would help, what was ruled out.
#[derive(Serialize)]
pub(super) struct Findings<'a> {
    headline: &'a Headline,
    sentence: String,
    found: Vec<Finding<'a>>,
    ruled_out: Vec<RuledOut<'a>>,
    noisy: Vec<RuledOut<'a>>,
    not_known: Vec<NotKnown<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    code: &'static str,
    title: &'static str,
    sentence: String,
    gain: Option<Gain>,
    confidence: Confidence,
    remedy: &'a Remedy,
    evidence: &'a [Evidence],
}

#[derive(Serialize)]
struct RuledOut<'a> {
    code: &'static str,
    sentence: String,
    evidence: &'a [Evidence],
}

#[derive(Serialize)]
struct NotKnown<'a> {
    code: &'static str,
    sentence: String,
    missing: &'a [Missing],
}

impl<'a> Findings<'a> {
    pub(super) fn of(f: &'a findings::Findings) -> Self {
        let finding = |f: &'a findings::Finding| Finding {
            code: f.rule.code,
            title: f.rule.title,
            sentence: words::findings::sentence(f),
            gain: f.found.gain,
            confidence: f.found.confidence,
            remedy: &f.found.remedy,
            evidence: &f.found.evidence,
        };
        let out = |(rule, evidence): &'a (&'static findings::Rule, Vec<Evidence>)| RuledOut {
            code: rule.code,
            sentence: words::findings::ruled_out(rule, evidence),
            evidence,
        };
        let noisy = |(rule, evidence): &'a (&'static findings::Rule, Vec<Evidence>)| RuledOut {
            code: rule.code,
            sentence: words::findings::noisy(rule, evidence),
            evidence,
        };
        let unknown = |(rule, missing): &'a (&'static findings::Rule, Vec<Missing>)| NotKnown {
            code: rule.code,
            sentence: words::findings::not_known(rule, missing),
            missing,
        };
        Self {
            headline: &f.headline,
            sentence: words::findings::headline(&f.headline),
            found: f.found.iter().map(finding).collect(),
            ruled_out: f.ruled_out.iter().map(out).collect(),
            noisy: f.noisy.iter().map(noisy).collect(),
            not_known: f.not_known.iter().map(unknown).collect(),
        }
    }
}
