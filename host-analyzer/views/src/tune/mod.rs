//! `tune.json`: measured or estimated settings, `profinfer_schema::Tuning`. The codes are stable.

mod prediction;

use std::io::{self, Write};

use super::words;
use profinfer_analysis::tune::{Prediction, Setting, Tried, Tuning};
use profinfer_schema as schema;
use profinfer_schema::{DRAFT, SCHEMA};

/// Writes `tune.json`: the estimate from a recording, the measured settings, or both.
///
/// # Errors
/// Those of `out`.
pub fn json(
    prediction: Option<&Prediction>,
    tried: Option<(&Tuning, &[Setting])>,
    out: &mut dyn Write,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(prediction, tried))?;
    out.write_all(b"\n")
}

/// The content of `tune.json`.
#[must_use]
pub fn document(prediction: Option<&Prediction>, tried: Option<(&Tuning, &[Setting])>) -> schema::Tuning {
    let estimated = prediction.map(prediction::document);
    match (tried, prediction) {
        (Some((tuning, settings)), _) => {
            let name = |i: usize| settings[i].name.clone();
            schema::Tuning {
                schema: SCHEMA,
                draft: DRAFT,
                status: "tried".to_owned(),
                advice: words::tune::advice(tuning, settings),
                fastest: tuning.fastest.map(name),
                choice: tuning.choice.map(name),
                open: tuning.open.iter().map(|i| name(*i)).collect(),
                practical_share: tuning.choices.practical,
                settings: settings.iter().zip(&tuning.tried).map(|(s, t)| row(s, t.as_ref())).collect(),
                prediction: estimated,
            }
        }
        (None, prediction) => schema::Tuning {
            schema: SCHEMA,
            draft: DRAFT,
            status: "estimated".to_owned(),
            advice: prediction.map_or_else(Vec::new, |p| words::tune::estimated(p, None)),
            fastest: None,
            choice: None,
            open: Vec::new(),
            practical_share: prediction.map_or(0.0, |p| p.practical),
            settings: Vec::new(),
            prediction: estimated,
        },
    }
}

fn row(setting: &Setting, tried: Option<&Tried>) -> schema::TriedSetting {
    let sensors = |of: fn(&Tried) -> &[(String, f64)]| {
        let of = tried.map(of).unwrap_or_default();
        of.iter().map(|(name, mean)| schema::SensorMean { name: name.clone(), mean: *mean }).collect()
    };
    schema::TriedSetting {
        name: setting.name.clone(),
        threads: setting.threads,
        cpus: setting.cpus.clone(),
        standing: tried.map(|t| t.standing.code().to_owned()),
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
