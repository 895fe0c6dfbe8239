//! `analyze predict MODEL.gguf`: estimates the speed of a model that was not run, from recordings
//! of other models on the board, or from its ceilings alone.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::cli::Predict;
use crate::command::boards;
use crate::command::compare::{file, runs};
use crate::{Diagnostic, Result, command::record, json, write};
use profinfer_analysis::ceiling::Ceilings;
use profinfer_analysis::predict::{Bracket, Census, Prediction, Query, Refusal, Run};
use profinfer_trace::gguf;
use profinfer_trace::model::Blueprint;
use profinfer_views as views;
use profinfer_views::predict::{Answer, Names};

/// Exit status if no prediction is possible.
const REFUSED: u8 = 4;

/// Maximum number of recordings: each is predicted from all others.
const MOST: usize = 100;

/// Default context size for a bracket, in KV cells.
const CONTEXT: u64 = 512;

pub(crate) fn predict(options: &Predict) -> Result<ExitCode> {
    // Recordings have the profile's name. A profile that this machine lacks may be in them too.
    let board = options.board.as_ref().map(|name| {
        let catalog = boards::catalog(None).ok();
        catalog.and_then(|c| Some(c.find(name).ok()?.name.clone())).unwrap_or_else(|| name.clone())
    });
    let blueprint = header(&options.model)?;
    let mut names = Names { model: options.model.display().to_string(), ..Names::default() };
    let answer = if let Some(ceilings) = &options.ceilings {
        names.recordings.push(ceilings.display().to_string());
        bracket(&blueprint, ceilings, board.as_ref(), options)?
    } else {
        let runs = recordings(options, &mut names)?;
        let ask = Query { context: options.context, prompt: options.prompt, board };
        Prediction::compute(&blueprint, &runs, &ask)
            .map_or_else(Answer::Refused, |p| Answer::Predicted(Box::new(p)))
    };
    write::folder(&options.out)?;
    file(&options.out, "predict.json", |out| views::predict::json(&answer, &names, out))?;
    if options.format.format.is_json() {
        json::print(&views::predict::document(&answer, &names))?;
    } else {
        let mut out = anstream::stdout().lock();
        let _ = views::terminal::predict::predict(&answer, &names, record::columns(), &mut out);
        let _ = writeln!(out, "\nwritten to {}: predict.json", options.out.display());
    }
    Ok(ExitCode::from(if matches!(answer, Answer::Refused(_)) { REFUSED } else { 0 }))
}

/// Reads only the header of the model file.
fn header(path: &Path) -> Result<Blueprint> {
    const HELP: &str = "give the GGUF file that the engine loads";
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (bytes, file) =
        opened.map_err(|e| Diagnostic::new(format!("opening {}", path.display()), e, HELP))?;
    gguf::read(&mut BufReader::new(file), bytes).map_err(|e| {
        Diagnostic::new(
            format!("reading the header of {}", path.display()),
            views::words::one_line(&e.to_string()),
            HELP,
        )
    })
}

fn recordings(options: &Predict, names: &mut Names) -> Result<Vec<Run>> {
    let mut found = Vec::new();
    for path in &options.from {
        found.extend(runs::of(path)?);
    }
    if found.len() > MOST {
        let answer = format!("{} recordings are given", found.len());
        return Err(Diagnostic::new(
            "predicting from recordings",
            answer,
            format!("give at most {MOST} recordings"),
        ));
    }
    let mut all = Vec::new();
    for path in found {
        names.recordings.push(path.display().to_string());
        all.push(Run::compute(&record::one_engine(&[path])?));
    }
    Ok(all)
}

/// A bracket from ceilings alone.
fn bracket(blueprint: &Blueprint, path: &Path, asked: Option<&String>, options: &Predict) -> Result<Answer> {
    const HELP: &str = "give a file that `profinfer-agent bench --out FILE` wrote on the board, or a recording made with --bench";
    let model = record::recording(&[path.to_owned()])?;
    let board = &model.session.board;
    if let Some(asked) = asked.filter(|asked| !board.is_empty() && *asked != board) {
        return Ok(Answer::Refused(Refusal::Board { asked: asked.clone(), found: board.clone() }));
    }
    let census = match Census::new(blueprint, options.context.unwrap_or(CONTEXT)) {
        Ok(census) => census,
        Err(e) => return Ok(Answer::Refused(Refusal::NoCensus(e))),
    };
    let bracket =
        Bracket::compute(&census, &Ceilings::compute(&model), options.threads).ok_or_else(|| {
            let answer = "it has no read ceiling for this thread count";
            Diagnostic::new(format!("looking for ceilings in {}", path.display()), answer, HELP)
        })?;
    Ok(Answer::Bracket(Box::new((census, bracket))))
}
