//! Results beside which summary.json has a sentence.

use serde::Serialize;

use crate::analyses::phase::Phase;
use crate::analyses::{expert, gauge, health};
use crate::views::words;

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
