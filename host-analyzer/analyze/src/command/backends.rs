//! `analyze backends RECORDING…`: operators by shape on the backends of several recordings.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::args::format::Format;
use crate::args::numbered::Numbered;
use crate::command::compare::file;
use crate::{Diagnostic, Result, accelerator, command::record, json, write};
use profinfer_analysis::accelerator::{Accelerators, several};
use profinfer_views as views;

pub(crate) fn backends(
    recordings: &[PathBuf],
    profiles: &[Numbered],
    out: &Path,
    format: Format,
) -> Result<()> {
    if let Some(p) = profiles.iter().find(|p| p.number > recordings.len()) {
        return Err(Diagnostic::new(
            format!("assigning {} to recording {}", p.file.display(), p.number),
            format!("the command line has {}", recordings.len()),
            "count the recordings of the command line from 1",
        ));
    }
    let mut found = Vec::new();
    for (number, path) in (1..).zip(recordings) {
        let mut model = record::one_engine(std::slice::from_ref(path))?;
        let files: Vec<PathBuf> =
            profiles.iter().filter(|p| p.number == number).map(|p| p.file.clone()).collect();
        accelerator::settle(&mut model, &files)?;
        found.push(Accelerators::of_recording(&model));
    }
    let names: Vec<String> = recordings.iter().map(|p| p.display().to_string()).collect();
    let rows = several(&found);
    write::folder(out)?;
    file(out, "backends.json", |to| views::backends::json(&names, &found, &rows, to))?;
    if format.is_json() {
        return json::print(&views::backends::document(&names, &found, &rows));
    }
    let mut to = anstream::stdout().lock();
    let _ = views::terminal::backends::several(&names, &found, &rows, record::columns(), &mut to);
    let _ = writeln!(to, "\nwritten to {}: backends.json", out.display());
    Ok(())
}
