//! Ceilings that are kept per machine, in the user's state folder.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::file::File;
use super::machine::Machine;
use crate::{Diagnostic, Result, user_state};
use profinfer_trace::model::Ceiling;

/// Names the folder instead; empty for no store.
const VARIABLE: &str = "PROFINFER_CEILINGS";
/// Largest file. A machine with 64 CPUs takes 60 kB.
const MOST_BYTES: u64 = 8 << 20;
/// Most machines. Beyond, the one whose ceilings changed longest ago is forgotten.
const MOST: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    /// The user's: `$PROFINFER_CEILINGS`, else `$XDG_STATE_HOME/profinfer/ceilings`, else that in
    /// `~/.local/state`. `None` where the user has none.
    pub(crate) fn of_user() -> Option<Self> {
        if let Some(folder) = env::var_os(VARIABLE) {
            return (!folder.is_empty()).then(|| Self::at(folder.into()));
        }
        user_state::folder("ceilings").map(Self::at)
    }

    pub(crate) const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The best ceilings of a machine; none if none were kept.
    ///
    /// # Errors
    /// If its file cannot be read, or holds something else.
    pub(crate) fn of(&self, machine: &Machine) -> Result<Vec<Ceiling>> {
        let path = self.folder.join(machine.file_name());
        let wrong = |answer: &dyn std::fmt::Display| {
            let help = "they are not used; delete the file, or measure again with --bench, which replaces it";
            Diagnostic::new(format!("reading the kept ceilings {}", path.display()), answer, help)
        };
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(wrong(&e)),
        };
        let file: File = serde_json::from_slice(&bytes).map_err(|e| wrong(&e))?;
        if file.machine != *machine {
            return Err(wrong(&"it is of another machine"));
        }
        file.ceilings().map_err(|answer| wrong(&answer))
    }

    /// Replaces the kept ceilings of a machine. Two programs that do so at once may lose what one of
    /// them added; a later reading of that recording adds it again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn put(&self, machine: &Machine, ceilings: &[Ceiling]) -> Result<()> {
        self.write(machine, ceilings).map_err(|e| {
            let help =
                format!("make the folder writable, or name another one in {VARIABLE} (empty: keep none)");
            Diagnostic::new(
                format!("keeping the ceilings of this machine in {}", self.folder.display()),
                e,
                help,
            )
        })
    }

    /// Writes to a temporary name first, so that a reader never sees a part of a file.
    fn write(&self, machine: &Machine, kept: &[Ceiling]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let name = machine.file_name();
        let partial = self.folder.join(format!(".{name}.{}", std::process::id()));
        let path = self.folder.join(&name);
        let bytes = serde_json::to_vec(&File::new(machine, kept))?;
        let written = fs::File::create(&partial).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()
        });
        if let Err(e) = written.and_then(|()| fs::rename(&partial, &path)) {
            let _ = fs::remove_file(&partial);
            return Err(e);
        }
        self.forget(&path)
    }

    /// Removes the oldest files beyond the limit, never the one at `path`.
    fn forget(&self, path: &Path) -> io::Result<()> {
        let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let other = entry?.path();
            if other.extension().is_some_and(|e| e == "json") && other != path {
                others.push((other.metadata()?.modified()?, other));
            }
        }
        others.sort();
        let beyond = (others.len() + 1).saturating_sub(MOST);
        others.iter().take(beyond).try_for_each(|(_, other)| fs::remove_file(other))
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is no file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            format!("it is larger than {} MiB", MOST_BYTES >> 20),
        ));
    }
    Ok(bytes)
}
