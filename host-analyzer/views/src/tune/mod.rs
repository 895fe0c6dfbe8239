//! `tune.json`: settings that were tried or are foreseen, as docs/output-schema.md says. The codes are stable.

mod prediction;

use std::io::{self, Write};

use serde::Serialize;

use super::{SCHEMA, words};
use profinfer_analysis::tune::{Prediction, Setting, Tried, Tuning};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    /// `tried` or `foreseen`.
    status: &'static str,
    advice: Vec<String>,
    fastest: Option<&'a str>,
    choice: Option<&'a str>,
    open: Vec<&'a str>,
    practical_share: f64,
    settings: Vec<Row<'a>>,
    prediction: Option<prediction::Document<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    threads: Option<u32>,
    cpus: Option<&'a str>,
    standing: Option<&'static str>,
    token_ns: Option<u64>,
    runs_ns: Vec<u64>,
    longer_share: Option<f64>,
    low_share: Option<f64>,
    high_share: Option<f64>,
    prompt_token_ns: Option<u64>,
    clocks: Vec<Sensor<'a>>,
    power: Vec<Sensor<'a>>,
    joules_per_token: Option<f64>,
}

#[derive(Serialize)]
struct Sensor<'a> {
    name: &'a str,
    mean: f64,
}

/// Writes `tune.json`: what is foreseen from a recording, what was tried, or both.
///
/// # Errors
/// Those of `out`.
pub fn json(
    prediction: Option<&Prediction>,
    tried: Option<(&Tuning, &[Setting])>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let foreseen = prediction.map(prediction::document);
    let document = match (tried, prediction) {
        (Some((tuning, settings)), _) => {
            let name = |i: usize| settings[i].name.as_str();
            Document {
                schema: SCHEMA,
                status: "tried",
                advice: words::tune::advice(tuning, settings),
                fastest: tuning.fastest.map(name),
                choice: tuning.choice.map(name),
                open: tuning.open.iter().map(|i| name(*i)).collect(),
                practical_share: tuning.choices.practical,
                settings: settings.iter().zip(&tuning.tried).map(|(s, t)| row(s, t.as_ref())).collect(),
                prediction: foreseen,
            }
        }
        (None, prediction) => Document {
            schema: SCHEMA,
            status: "foreseen",
            advice: prediction.map_or_else(Vec::new, |p| words::tune::foreseen(p, None)),
            fastest: None,
            choice: None,
            open: Vec::new(),
            practical_share: prediction.map_or(0.0, |p| p.practical),
            settings: Vec::new(),
            prediction: foreseen,
        },
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn row<'a>(setting: &'a Setting, tried: Option<&'a Tried>) -> Row<'a> {
    let sensors = |of: fn(&Tried) -> &[(String, f64)]| {
        let of = tried.map(of).unwrap_or_default();
        of.iter().map(|(name, mean)| Sensor { name, mean: *mean }).collect()
    };
    Row {
        name: &setting.name,
        threads: setting.threads,
        cpus: setting.cpus.as_deref(),
        standing: tried.map(|t| t.standing.code()),
        token_ns: tried.map(|t| t.token_ns),
        runs_ns: tried
            .map_or_else(Vec::new, |t| t.side.runs.iter().map(|r| r.mean_ns.round() as u64).collect()),
        longer_share: tried.and_then(|t| t.longer),
        low_share: tried.and_then(|t| t.interval).map(|i| i.0),
        high_share: tried.and_then(|t| t.interval).map(|i| i.1),
        prompt_token_ns: tried.and_then(|t| t.prompt_ns),
        clocks: sensors(|t| &t.clocks),
        power: sensors(|t| &t.watts),
        joules_per_token: tried.and_then(|t| t.joules),
    }
}
