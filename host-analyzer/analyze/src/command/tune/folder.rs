//! Measured settings: one folder of runs per setting, as `analyze tune --run` writes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::candidate::MOST;
use super::{Diagnostic, Result, record, runs, write};
use crate::diagnostic;
use profinfer_analysis::tune::{Setting, Trial};

/// The file that describes the setting of a folder.
pub(super) const ABOUT: &str = "setting.json";

const HELP: &str = "`analyze tune --run` writes such folders";

/// A setting.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) threads: Option<u32>,
    pub(super) cpus: Option<String>,
}

impl About {
    /// Creates the folder of the setting with its description.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write::folder(folder)?;
        let path = folder.join(ABOUT);
        let written = serde_json::to_vec(self).map_err(io::Error::from).and_then(|b| fs::write(&path, b));
        written.map_err(|e| diagnostic::unwritable(path.display(), e))
    }
}

/// The measured settings, one per folder.
pub(super) fn tried(folder: &Path, warm_up: usize) -> Result<Vec<Setting>> {
    let folders = folders(folder)?;
    let settings: Vec<Setting> =
        folders.iter().map(|folder| setting(folder, warm_up)).collect::<Result<_>>()?;
    let found = settings.len();
    if !(2..=MOST).contains(&found) {
        return Err(Diagnostic::new(
            format!("looking for settings in {}", folder.display()),
            format!("found {found} subfolders with recordings"),
            format!(
                "give a recording, or a folder with 2 to {MOST} subfolders, each with the runs of one setting; {HELP}"
            ),
        ));
    }
    Ok(settings)
}

/// The subfolders that contain recordings.
pub(super) fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let opened = |e: io::Error| {
        let help =
            format!("give a recording, or a folder with one subfolder of recordings per setting; {HELP}");
        Diagnostic::new(format!("opening {}", folder.display()), e, help)
    };
    let entries = fs::read_dir(folder).map_err(opened)?;
    let paths: Vec<PathBuf> = entries.map(|e| Ok(e?.path())).collect::<io::Result<_>>().map_err(opened)?;
    let mut folders: Vec<PathBuf> = paths.into_iter().filter(|p| p.is_dir() && runs::of(p).is_ok()).collect();
    folders.sort();
    Ok(folders)
}

fn setting(folder: &Path, warm_up: usize) -> Result<Setting> {
    let name = folder.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let path = folder.join(ABOUT);
    let about: About = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| {
            let help = "write {\"threads\": 4, \"cpus\": \"4-7\"}, or remove it";
            Diagnostic::new(format!("reading {}", path.display()), e, help)
        })?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => About::default(),
        Err(e) => {
            return Err(Diagnostic::new(
                format!("reading {}", path.display()),
                e,
                "make it readable, or remove it",
            ));
        }
    };
    let found = runs::of(folder)?;
    if found.len() > MOST {
        let tried = format!("reading the runs in {}", folder.display());
        let help = format!("keep at most {MOST} runs; more runs add no information");
        return Err(Diagnostic::new(tried, format!("it has {} runs", found.len()), help));
    }
    let trials = found.iter().map(|files| trial(files, warm_up)).collect::<Result<_>>()?;
    Ok(Setting { name, threads: about.threads, cpus: about.cpus, trials })
}

pub(super) fn trial(files: &PathBuf, warm_up: usize) -> Result<Trial> {
    let trial = Trial::compute(&record::one_engine(std::slice::from_ref(files))?);
    let found = trial.run.calls.len();
    if found <= warm_up {
        return Err(Diagnostic::new(
            format!("reading {}", files.display()),
            format!("it has {found} decode tokens, and the first {warm_up} are skipped (--warm-up)"),
            "record runs that generate more tokens",
        ));
    }
    Ok(trial)
}
