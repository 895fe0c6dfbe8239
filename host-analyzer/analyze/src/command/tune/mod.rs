//! `analyze tune`: recommends a thread count and a CPU set.
//!
//! ```text
//! analyze tune RECORDING               estimates other settings
//! analyze tune FOLDER                  compares measured settings
//! analyze tune [RECORDING] --run -- …  measures settings, here or on a board
//! ```

mod agent;
mod candidate;
mod folder;
mod recording;
mod run;

use std::io::Write;

use crate::cli::Tune;
use crate::command::compare::{file, runs};
use crate::{Diagnostic, Result, ceilings, command::record, json, write};
use profinfer_analysis::compare::Choices;
use profinfer_analysis::tune::{Prediction, Setting, Tuning};
use profinfer_views as views;

pub(crate) fn tune(options: &Tune) -> Result<()> {
    let (source, run) = (options.source.as_deref(), options.run);
    let prediction = match source {
        Some(source) if run || recording::is_one(source)? => Some(recording::estimated(source, options)?),
        _ => None,
    };
    let tried = match source {
        _ if run => Some(run::tried(options, prediction.as_ref())?),
        Some(source) if prediction.is_none() => Some(folder::tried(source, options.warm_up)?),
        _ => None,
    };
    show(prediction.as_ref(), tried, options)
}

/// Writes `tune.json`, and prints the result.
fn show(prediction: Option<&Prediction>, tried: Option<Vec<Setting>>, options: &Tune) -> Result<()> {
    let choices = Choices {
        practical: options.practical.0,
        spread: options.spread.0,
        warm_up: options.warm_up,
        different_work: false,
    };
    let tuned = tried.map(|mut settings| {
        // The curve begins with few threads.
        settings.sort_by(|a, b| (a.threads, &a.cpus, &a.name).cmp(&(b.threads, &b.cpus, &b.name)));
        (Tuning::compute(&settings, choices), settings)
    });
    let tuned = tuned.as_ref().map(|(tuning, settings)| (tuning, &settings[..]));
    write::folder(&options.out)?;
    file(&options.out, "tune.json", |out| views::tune::json(prediction, tuned, out))?;
    if options.format.format.is_json() {
        return json::print(&views::tune::document(prediction, tuned));
    }
    let (mut out, width) = (anstream::stdout().lock(), record::columns());
    if let Some(prediction) = prediction {
        let source = options.source.as_deref().map_or_else(String::new, |s| s.display().to_string());
        let next = tuned.is_none().then_some(&*source);
        let _ = views::terminal::tune::prediction(prediction, next, width, &mut out);
    }
    if let Some((tuning, settings)) = tuned {
        if prediction.is_some() {
            let _ = writeln!(out);
        }
        let _ = views::terminal::tune::tune(tuning, settings, width, &mut out);
    }
    let _ = writeln!(out, "\nwritten to {}: tune.json", options.out.display());
    Ok(())
}
