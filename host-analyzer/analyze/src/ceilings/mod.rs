//! Ceilings from a file instead of the stream.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::cli::Record;
use crate::{Diagnostic, Result};
use profinfer_trace::model::{Ceiling, Model};

#[derive(Clone)]
pub(crate) struct Measured {
    name: String,
    cpu_model: String,
    pub(crate) ceilings: Vec<Ceiling>,
}

/// Reads the ceilings of a recording. `model` is the function that reads recordings.
pub(crate) fn read(path: &Path, model: &dyn Fn(&str, &mut dyn Read) -> Result<Model>) -> Result<Measured> {
    const HELP: &str = "give a file that `profinfer-agent bench --out FILE` wrote on the board, or a recording made with --bench";
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|e| Diagnostic::new(format!("opening {name}"), e, HELP))?;
    let model = model(&name, &mut file)?;
    if !model.ceilings.iter().any(Ceiling::measured) {
        return Err(Diagnostic::new(format!("looking for ceilings in {name}"), "it has none", HELP));
    }
    Ok(Measured { name, cpu_model: model.session.cpu_model, ceilings: model.ceilings })
}

/// Puts the ceilings of the file into the model. Returns messages for the user.
pub(crate) fn settle(model: &mut Model, measured: Option<Measured>, options: &Record) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(measured) = measured {
        said = replace(model, measured);
    } else if options.bench && model.ceilings.is_empty() {
        said.push(
            "ceilings: the agent measured none; it is older than --bench, or it was built without the feature `bench`"
                .to_owned(),
        );
    }
    said
}

/// Replaces the ceilings of the stream with those of the file. Returns messages for the user.
pub(crate) fn replace(model: &mut Model, measured: Measured) -> Vec<String> {
    let Measured { name, cpu_model, ceilings } = measured;
    let mut said = Vec::new();
    if !model.ceilings.is_empty() {
        said.push(format!("ceilings: using those of {name} instead of those of the stream"));
    }
    let here = &model.session.cpu_model;
    if !cpu_model.is_empty() && !here.is_empty() && cpu_model != *here {
        said.push(format!("ceilings: {name} was measured on `{cpu_model}`, but the session ran on `{here}`"));
    }
    model.ceilings = ceilings;
    said
}
