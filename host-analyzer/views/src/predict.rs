//! `predict.json`: the speed of a model that was not run, as docs/output-schema.md says. The codes are stable.

use std::io::{self, Write};

use serde::Serialize;

use super::{SCHEMA, words};
use profinfer_analysis::predict::{Bracket, By, Census, LeftOut, Peers, Prediction, Refusal, Speed};
use profinfer_analysis::roof::Top;

/// What a person asked for, as a person called it.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// File of the model.
    pub model: String,
    /// Recordings, or the file with ceilings.
    pub recordings: Vec<String>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A prediction from recordings.
    Predicted(Box<Prediction>),
    /// A bracket from ceilings.
    Bracket(Box<(Census, Bracket)>),
    /// Nothing, and why.
    Refused(Refusal),
}

impl Answer {
    /// Its code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Predicted(_) => "predicted",
            Self::Bracket(_) => "bracket",
            Self::Refused(refusal) => refusal.code(),
        }
    }
}

#[derive(Serialize, Default)]
struct Document<'a> {
    schema: u32,
    code: &'static str,
    model: &'a str,
    recordings: &'a [String],
    words: Vec<String>,
    threads: Option<u64>,
    census: Option<CensusRow<'a>>,
    decode: Option<Range>,
    gap_ns: Option<u64>,
    seen_tokens_per_s: Option<f64>,
    prefill: Option<Range>,
    read: Option<Top>,
    prompt_tokens: Option<u64>,
    types: Vec<TypeRow<'a>>,
    parts: Option<Parts>,
    others: Option<Others>,
    left_out: Vec<LeftOutRow<'a>>,
}

#[derive(Serialize)]
struct CensusRow<'a> {
    architecture: &'a str,
    layers: u64,
    parameters: u64,
    file_bytes: u64,
    weight_bytes: u64,
    matrix_bytes: u64,
    vector_bytes: u64,
    embedding_bytes: u64,
    tied: bool,
    experts: u64,
    experts_used: u64,
    cells: u64,
    cache_bytes: u64,
    recurrent: bool,
}

#[derive(Serialize)]
struct Range {
    tokens_per_s: Option<f64>,
    low_tokens_per_s: f64,
    high_tokens_per_s: f64,
    token_ns: Option<u64>,
    interval: &'static str,
    predictions: usize,
    unseen: bool,
    alike: Option<f64>,
}

#[derive(Serialize)]
struct TypeRow<'a> {
    dtype: &'a str,
    products: u64,
    bytes: u64,
    ns: u64,
    low_ns: u64,
    high_ns: u64,
    bytes_per_s: f64,
    seen: bool,
}

#[derive(Serialize)]
struct Parts {
    products_ns: u64,
    attention_ns: u64,
    others_ns: u64,
    between_ns: u64,
    nodes: f64,
}

#[derive(Serialize)]
struct Others {
    one_parameter_tokens_per_s: Option<f64>,
    llmfit_tokens_per_s: f64,
    gguf_parser_tokens_per_s: Option<f64>,
}

#[derive(Serialize)]
struct LeftOutRow<'a> {
    recording: Option<&'a str>,
    decode_error: Option<f64>,
    prefill_error: Option<f64>,
    one_parameter_error: Option<f64>,
    unseen: bool,
}

/// Writes `predict.json`.
///
/// # Errors
/// Those of `out`.
pub fn json(answer: &Answer, names: &Names, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document {
        schema: SCHEMA,
        code: answer.code(),
        model: &names.model,
        recordings: &names.recordings,
        words: words::predict::words(answer),
        ..Document::default()
    };
    match answer {
        Answer::Predicted(p) => predicted(&mut document, p, names),
        Answer::Bracket(both) => {
            let (census, bracket) = &**both;
            document.census = Some(row(census));
            document.threads = Some(bracket.threads as u64);
            document.decode = Some(borders(bracket.decode_ns));
            document.prefill = bracket.prefill_ns.map(borders);
            document.read = Some(bracket.read);
        }
        Answer::Refused(_) => {}
    }
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn predicted<'a>(document: &mut Document<'a>, p: &'a Prediction, names: &'a Names) {
    let estimate = &p.decode.estimate;
    document.threads = Some(p.threads.into());
    document.census = Some(row(&p.census));
    document.decode = Some(range(&p.decode, 1.0));
    document.gap_ns = Some(whole(p.gap_ns));
    document.seen_tokens_per_s = Some(p.seen_per_s());
    document.prefill = p.prefill.as_ref().map(|s| range(s, p.prompt as f64));
    document.prompt_tokens = p.prefill.as_ref().map(|_| p.prompt);
    let types = estimate.types.iter().map(|(dtype, t)| TypeRow {
        dtype,
        products: t.nodes,
        bytes: t.bytes,
        ns: whole(t.ns),
        low_ns: whole(t.low_ns),
        high_ns: whole(t.high_ns),
        bytes_per_s: t.bytes as f64 * 1e9 / t.ns.max(1.0),
        seen: !t.unseen,
    });
    document.types = types.collect();
    document.parts = Some(Parts {
        products_ns: whole(estimate.types.values().map(|t| t.ns).sum()),
        attention_ns: whole(estimate.attention_ns),
        others_ns: whole(estimate.others_ns),
        between_ns: whole(estimate.between_ns),
        nodes: estimate.nodes,
    });
    document.others = Some(others(&p.peers));
    document.left_out =
        p.left_out.iter().enumerate().map(|(i, l)| left_out(l, names.recordings.get(i))).collect();
}

fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

fn row(c: &Census) -> CensusRow<'_> {
    CensusRow {
        architecture: &c.architecture,
        layers: c.layers,
        parameters: c.parameters,
        file_bytes: c.file_bytes,
        weight_bytes: c.weight_bytes(),
        matrix_bytes: c.matrix_bytes(),
        vector_bytes: c.vector_bytes,
        embedding_bytes: c.embedding_bytes,
        tied: c.tied,
        experts: c.experts,
        experts_used: c.experts_used,
        cells: c.cells,
        cache_bytes: c.cache_bytes,
        recurrent: c.recurrent,
    }
}

fn range(speed: &Speed, tokens: f64) -> Range {
    let per_s = |ns: f64| tokens * 1e9 / ns.max(1.0);
    let (estimate, interval) = (&speed.estimate, &speed.interval);
    Range {
        tokens_per_s: Some(per_s(estimate.ns())),
        low_tokens_per_s: per_s(interval.high_ns),
        high_tokens_per_s: per_s(interval.low_ns),
        token_ns: Some(whole(estimate.ns() / tokens.max(1.0))),
        interval: match interval.by {
            By::LeftOut => "left_out",
            By::Few => "few_recordings",
        },
        predictions: interval.predictions,
        unseen: estimate.has_unseen(),
        alike: Some(estimate.alike),
    }
}

fn borders((low_ns, high_ns): (f64, f64)) -> Range {
    Range {
        tokens_per_s: None,
        low_tokens_per_s: 1e9 / high_ns.max(1.0),
        high_tokens_per_s: 1e9 / low_ns.max(1.0),
        token_ns: None,
        interval: "ceilings",
        predictions: 0,
        unseen: true,
        alike: None,
    }
}

fn others(peers: &Peers) -> Others {
    let per_s = |ns: f64| 1e9 / ns.max(1.0);
    Others {
        one_parameter_tokens_per_s: peers.one_parameter_ns.map(per_s),
        llmfit_tokens_per_s: per_s(peers.llmfit_ns),
        gguf_parser_tokens_per_s: peers.gguf_parser_ns.map(per_s),
    }
}

/// Errors as shares of the predicted time: positive where the run was slower.
fn left_out<'a>(l: &LeftOut, recording: Option<&'a String>) -> LeftOutRow<'a> {
    let share = |error: Option<f64>| error.map(f64::exp_m1);
    LeftOutRow {
        recording: recording.map(String::as_str),
        decode_error: share(l.decode),
        prefill_error: share(l.prefill),
        one_parameter_error: share(l.one_parameter),
        unseen: l.unseen,
    }
}
