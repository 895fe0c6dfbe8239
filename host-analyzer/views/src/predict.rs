//! `predict.json`: the predicted speed of a model, `profinfer_schema::Prediction`. The codes are
//! stable.

use std::io::{self, Write};

use super::published::Publish;
use super::words;
use profinfer_analysis::predict::{Bracket, By, Census, LeftOut, Peers, Prediction, Refusal, Speed};
use profinfer_schema as schema;
use profinfer_schema::{DRAFT, SCHEMA};

/// The user's names.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// File of the model.
    pub model: String,
    /// Recordings, or the file with ceilings.
    pub recordings: Vec<String>,
}

/// The result.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A prediction from recordings.
    Predicted(Box<Prediction>),
    /// A bracket from ceilings.
    Bracket(Box<(Census, Bracket)>),
    /// The reason why there is none.
    Refused(Refusal),
}

impl Answer {
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Predicted(_) => "predicted",
            Self::Bracket(_) => "bracket",
            Self::Refused(refusal) => refusal.code(),
        }
    }
}

/// Writes `predict.json`.
///
/// # Errors
/// Those of `out`.
pub fn json(answer: &Answer, names: &Names, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(answer, names))?;
    out.write_all(b"\n")
}

/// The content of `predict.json`.
#[must_use]
pub fn document(answer: &Answer, names: &Names) -> schema::Prediction {
    let mut document = schema::Prediction {
        schema: SCHEMA,
        draft: DRAFT,
        code: answer.code().to_owned(),
        model: names.model.clone(),
        recordings: names.recordings.clone(),
        words: words::predict::words(answer),
        ..schema::Prediction::default()
    };
    match answer {
        Answer::Predicted(p) => predicted(&mut document, p, names),
        Answer::Bracket(both) => {
            let (census, bracket) = &**both;
            document.census = Some(row(census));
            document.threads = Some(bracket.threads as u64);
            document.decode = Some(borders(bracket.decode_ns));
            document.prefill = bracket.prefill_ns.map(borders);
            document.read = Some(bracket.read.publish());
        }
        Answer::Refused(_) => {}
    }
    document
}

fn predicted(document: &mut schema::Prediction, p: &Prediction, names: &Names) {
    let estimate = &p.decode.estimate;
    document.threads = Some(p.threads.into());
    document.census = Some(row(&p.census));
    document.decode = Some(range(&p.decode, 1.0));
    document.gap_ns = Some(rounded(p.gap_ns));
    document.seen_tokens_per_s = Some(p.seen_per_s());
    document.prefill = p.prefill.as_ref().map(|s| range(s, p.prompt as f64));
    document.prompt_tokens = p.prefill.as_ref().map(|_| p.prompt);
    let types = estimate.types.iter().map(|(dtype, t)| schema::TypeShare {
        dtype: dtype.clone(),
        products: t.nodes,
        bytes: t.bytes,
        ns: rounded(t.ns),
        low_ns: rounded(t.low_ns),
        high_ns: rounded(t.high_ns),
        bytes_per_s: t.bytes as f64 * 1e9 / t.ns.max(1.0),
        seen: !t.unseen,
    });
    document.types = types.collect();
    document.parts = Some(schema::PredictedParts {
        products_ns: rounded(estimate.types.values().map(|t| t.ns).sum()),
        attention_ns: rounded(estimate.attention_ns),
        others_ns: rounded(estimate.others_ns),
        between_ns: rounded(estimate.between_ns),
        nodes: estimate.nodes,
    });
    document.others = Some(others(&p.peers));
    document.left_out =
        p.left_out.iter().enumerate().map(|(i, l)| left_out(l, names.recordings.get(i))).collect();
}

fn rounded(ns: f64) -> u64 {
    ns.round() as u64
}

fn row(c: &Census) -> schema::Census {
    schema::Census {
        architecture: c.architecture.clone(),
        layers: c.layers,
        parameters: c.parameters,
        file_bytes: c.file_bytes,
        weight_bytes: c.weight_bytes(),
        matrix_bytes: c.matrix_bytes(),
        vector_bytes: c.vector_bytes,
        embedding_bytes: c.embedding_bytes,
        table_bytes: c.table_bytes,
        tied: c.tied,
        experts: c.experts,
        experts_used: c.experts_used,
        cells: c.cells,
        cache_bytes: c.cache_bytes,
        recurrent: c.recurrent,
    }
}

fn range(speed: &Speed, tokens: f64) -> schema::SpeedRange {
    let per_s = |ns: f64| tokens * 1e9 / ns.max(1.0);
    let (estimate, interval) = (&speed.estimate, &speed.interval);
    schema::SpeedRange {
        tokens_per_s: Some(per_s(estimate.ns())),
        low_tokens_per_s: per_s(interval.high_ns),
        high_tokens_per_s: per_s(interval.low_ns),
        token_ns: Some(rounded(estimate.ns() / tokens.max(1.0))),
        interval: match interval.by {
            By::LeftOut => "left_out".to_owned(),
            By::Few => "few_recordings".to_owned(),
        },
        predictions: interval.predictions.publish(),
        unseen: estimate.has_unseen(),
        alike: Some(estimate.alike),
    }
}

fn borders((low_ns, high_ns): (f64, f64)) -> schema::SpeedRange {
    schema::SpeedRange {
        tokens_per_s: None,
        low_tokens_per_s: 1e9 / high_ns.max(1.0),
        high_tokens_per_s: 1e9 / low_ns.max(1.0),
        token_ns: None,
        interval: "ceilings".to_owned(),
        predictions: 0,
        unseen: true,
        alike: None,
    }
}

fn others(peers: &Peers) -> schema::OtherPredictions {
    let per_s = |ns: f64| 1e9 / ns.max(1.0);
    schema::OtherPredictions {
        one_parameter_tokens_per_s: peers.one_parameter_ns.map(per_s),
        llmfit_tokens_per_s: per_s(peers.llmfit_ns),
        gguf_parser_tokens_per_s: peers.gguf_parser_ns.map(per_s),
    }
}

/// Errors as shares of the predicted time; positive if the run was slower.
fn left_out(l: &LeftOut, recording: Option<&String>) -> schema::LeftOutRun {
    let share = |error: Option<f64>| error.map(f64::exp_m1);
    schema::LeftOutRun {
        recording: recording.cloned(),
        decode_error: share(l.decode),
        prefill_error: share(l.prefill),
        one_parameter_error: share(l.one_parameter),
        unseen: l.unseen,
    }
}
