//! `analyze engine`: what the agent would probe in an engine, from its files, without a board.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use profinfer_boards::{Catalog, Level};
use profinfer_engine::BackendFunction;
use profinfer_engine::describe::{Engine, Given, examined, text};
use profinfer_engine::strategies;

use crate::args::format::Format;
use crate::{Diagnostic, Result, command::boards, json};

/// Prints the findings. The exit status is 1 if a level cannot be traced.
pub(crate) fn engine(
    paths: &[PathBuf],
    all_tables: bool,
    folder: Option<&Path>,
    format: Format,
) -> Result<ExitCode> {
    let backends = functions(&boards::catalog(folder)?);
    let mut read = Vec::new();
    for path in paths {
        if path.is_dir() {
            // A folder may contain files that cannot be read. They are not needed.
            let found = files_in(path)?.into_iter();
            read.extend(
                found.filter_map(|f| Some((f.display().to_string(), std::fs::read(&f).ok()?, false))),
            );
        } else {
            let bytes = std::fs::read(path).map_err(|e| no(path, e))?;
            read.push((path.display().to_string(), bytes, true));
        }
    }
    let given: Vec<_> =
        read.iter().map(|(path, bytes, named)| Given { path, bytes, named: *named }).collect();
    let found = examined(&given, &backends);
    if format.is_json() {
        json::print(&Engine::new(&found, &strategies(&found.plan)))?;
    } else {
        // A pipe that closes early is no error.
        let _ = write!(anstream::stdout().lock(), "{}", text(&found, all_tables));
    }
    Ok(if found.complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The backend functions that the agent searches, in the agent's order.
fn functions(catalog: &Catalog) -> Vec<BackendFunction> {
    let of_backend = |backend| {
        let probes = profinfer_boards::Backend::probes(backend).filter(|p| p.level == Level::Op);
        probes.map(|p| BackendFunction {
            symbol: p.symbol.clone(),
            backend: backend.title().to_owned(),
            whole: p.whole,
        })
    };
    catalog.backends().flat_map(of_backend).collect()
}

/// The files of a folder. A library and its links count once.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in folder.read_dir().map_err(|e| no(folder, e))? {
        let Ok(file) = entry.map_err(|e| no(folder, e))?.path().canonicalize() else { continue };
        if file.is_file() && !found.contains(&file) {
            found.push(file);
        }
    }
    found.sort();
    Ok(found)
}

fn no(path: &Path, e: std::io::Error) -> Diagnostic {
    Diagnostic::new(format!("reading {}", path.display()), e, "check the path")
}
