//! `analyze tune FOLDER`: settings that were tried in turn, a folder of runs for each (`scripts/tune.sh` makes them).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::cli::Tune;
use super::compare::{file, runs};
use super::{Diagnostic, Result, record, write};
use crate::analyses::compare::Choices;
use crate::analyses::tune::{Setting, Trial, Tuning};
use crate::views;

/// Says what a folder of runs was made with.
const ABOUT: &str = "setting.json";

/// Most settings, and most runs of one: the exact distribution of ranks takes time and memory with the fourth power of their number.
const MOST: usize = 100;

/// What `scripts/tune.sh` notes.
#[derive(Debug, Default, Deserialize)]
struct About {
    threads: Option<u32>,
    cpus: Option<String>,
}

pub(super) fn tune(options: &Tune) -> Result<()> {
    let mut settings = Vec::new();
    for folder in folders(&options.folder)? {
        settings.push(setting(&folder, options.warm_up)?);
    }
    let found = settings.len();
    if !(2..=MOST).contains(&found) {
        return Err(Diagnostic::new(
            format!("looking for settings in {}", options.folder.display()),
            format!("there are {found} folders with recordings"),
            format!(
                "give a folder with 2 to {MOST} folders, each with the runs of one setting; scripts/tune.sh makes one"
            ),
        ));
    }
    // Few threads first, as the curve is read.
    settings.sort_by(|a, b| (a.threads, &a.cpus, &a.name).cmp(&(b.threads, &b.cpus, &b.name)));
    let choices = Choices {
        practical: options.practical.0,
        spread: options.spread.0,
        warm_up: options.warm_up,
        different_work: false,
    };
    let tuning = Tuning::of(&settings, choices);
    write::folder(&options.out)?;
    file(&options.out, "tune.json", |out| views::tune::json(&tuning, &settings, out))?;
    let mut out = anstream::stdout().lock();
    let _ = views::terminal::tune::tune(&tuning, &settings, record::columns(), &mut out);
    let _ = writeln!(out, "\nwritten to {}: tune.json", options.out.display());
    Ok(())
}

/// The folders in a folder that hold recordings.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let opened = |e: io::Error| {
        let help = "give a folder with a folder of recordings for each setting; scripts/tune.sh makes one";
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
        let help = format!("keep at most {MOST}: more tell nothing that these do not");
        return Err(Diagnostic::new(tried, format!("it has {} runs", found.len()), help));
    }
    let mut trials = Vec::new();
    for files in found {
        let trial = Trial::of(&record::recording(std::slice::from_ref(&files))?);
        if trial.run.tokens.len() <= warm_up {
            return Err(Diagnostic::new(
                format!("reading {}", files.display()),
                format!(
                    "it has {} decode tokens, and {warm_up} of each run are left out",
                    trial.run.tokens.len()
                ),
                "record runs that generate more tokens",
            ));
        }
        trials.push(trial);
    }
    Ok(Setting { name, threads: about.threads, cpus: about.cpus, trials })
}
