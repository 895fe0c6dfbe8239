//! The command `engine`: what the agent would probe in an engine, from files or a running process.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use profinfer_engine::describe::{Engine, Given, examined, text};
use profinfer_engine::strategies;

use super::json;
use crate::bpf::backend_function;
use crate::cli::Format;
use crate::error::{Diagnostic, Result};
use crate::sys::file::map;
use crate::target::files::{MappedFile, code_files};
use crate::target::maps::FileId;
use crate::target::process;

/// Prints the plan. Returns the exit status: 1 if a level cannot be traced.
///
/// # Errors
/// If a named file cannot be read, or the process does not exist.
pub(super) fn engine(targets: &[String], all_tables: bool, format: Format) -> Result<i32> {
    let mut named = Vec::new();
    for target in targets {
        named.extend(files_of(target)?);
    }
    let mut maps = Vec::new();
    for file in &named {
        match File::open(&file.file.open_path).and_then(|f| map(&f)) {
            Ok(bytes) => maps.push((file, bytes)),
            // Files that were found in a folder or a process may be unreadable.
            Err(_) if !file.named => {}
            Err(e) => {
                return Err(Diagnostic::new(
                    format!("reading {}", file.file.path),
                    e,
                    "give the path of a file that this user may read",
                ));
            }
        }
    }
    let given: Vec<_> = maps
        .iter()
        .map(|(n, bytes)| Given { path: &n.file.path, bytes: n.file.image(bytes), named: n.named })
        .collect();
    let found = examined(&given, &backend_function::searched());
    match format {
        Format::Json => json::print(&Engine::new(&found, &strategies(&found.plan)))?,
        Format::Text => {
            let _ = write!(std::io::stdout().lock(), "{}", text(&found, all_tables));
        }
    }
    Ok(i32::from(!found.complete()))
}

struct Named {
    file: MappedFile,
    /// The command line names the file. Otherwise it was found in a folder or a process.
    named: bool,
}

/// A file, all files of a folder, or the files that a process maps as code.
fn files_of(target: &str) -> Result<Vec<Named>> {
    let path = Path::new(target);
    if let (Ok(pid), false) = (target.parse(), path.exists()) {
        process::check(pid)?;
        return Ok(code_files(pid).into_iter().map(|file| Named { file, named: false }).collect());
    }
    if !path.is_dir() {
        return Ok(vec![Named { file: whole(path.to_owned(), target.to_owned()), named: true }]);
    }
    let no = |e| {
        Diagnostic::new(
            format!("reading the folder {target}"),
            e,
            "give the path of a folder that this user may read",
        )
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in path.read_dir().map_err(no)? {
        // A library and its symbolic links are one file.
        let Ok(file) = entry.map_err(no)?.path().canonicalize() else { continue };
        if file.is_file() && !found.contains(&file) {
            found.push(file);
        }
    }
    found.sort();
    let named = |f: PathBuf| Named { file: whole(f.clone(), f.display().to_string()), named: false };
    Ok(found.into_iter().map(named).collect())
}

fn whole(open_path: PathBuf, path: String) -> MappedFile {
    MappedFile { id: FileId::default(), path, open_path }
}
