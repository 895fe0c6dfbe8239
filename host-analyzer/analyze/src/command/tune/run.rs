//! Measures settings in turn. Each round measures all of them, every other round in reverse order,
//! so that drift such as heat affects all alike.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::agent::Recorder;
use super::candidate::{self, Candidate};
use super::{Result, folder, write};
use crate::capture::observer::CaptureObserver;
use crate::cli::Tune;
use crate::diagnostic;
use crate::progress::Progress;
use profinfer_analysis::tune::{Prediction, Setting};
use profinfer_views::words;

/// Measures the requested settings, or those that the recording makes plausible.
pub(super) fn tried(options: &Tune, prediction: Option<&Prediction>) -> Result<Vec<Setting>> {
    let trials = &options.trials;
    let recorder = Recorder::new(trials, &options.command);
    let candidates = match prediction {
        Some(prediction) if trials.threads.is_empty() && trials.cpus.is_empty() => {
            candidate::plausible(prediction)?
        }
        _ if trials.threads.is_empty() => {
            candidate::every(&(1..=recorder.cpus()?).collect::<Vec<_>>(), &trials.cpus)?
        }
        _ => candidate::every(&trials.threads, &trials.cpus)?,
    };
    write::folder(&options.out)?;
    forget(&options.out)?;
    let mut settings = Vec::new();
    for candidate in &candidates {
        let about = folder::About { threads: Some(candidate.threads), cpus: candidate.list() };
        about.write(&options.out.join(candidate.name()))?;
        settings.push(Setting {
            name: candidate.name(),
            threads: about.threads,
            cpus: about.cpus,
            trials: Vec::new(),
        });
    }
    let mut progress = Progress::new("measuring settings");
    let done = rounds(options, &recorder, &candidates, &mut settings, &mut progress);
    progress.done();
    done.map(|()| settings)
}

fn rounds(
    options: &Tune,
    recorder: &Recorder<'_>,
    candidates: &[Candidate],
    settings: &mut [Setting],
    progress: &mut Progress,
) -> Result<()> {
    let rounds = options.trials.rounds;
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        if round % 2 == 0 {
            order.reverse();
        }
        for (k, i) in order.into_iter().enumerate() {
            let name = &settings[i].name;
            progress.begin(&format!("round {round} of {rounds}, {} of {}: {name}", k + 1, candidates.len()));
            progress.say(&words::tune::best_so_far(settings, options.warm_up));
            thread::sleep(Duration::from_secs(options.trials.pause));
            let file = options.out.join(name).join(format!("{round}.pfi"));
            recorder.record(&candidates[i], &file)?;
            settings[i].trials.push(folder::trial(&file, options.warm_up)?);
            if !std::io::stderr().is_terminal() {
                let one = words::tune::one_run(&settings[i], options.warm_up);
                let _ = writeln!(std::io::stderr(), "round {round} of {rounds}: {one}");
            }
        }
    }
    Ok(())
}

/// Removes the recordings of an earlier series: the folders with a description of their setting.
fn forget(out: &Path) -> Result<()> {
    let failed = |path: &Path, e| diagnostic::unwritable(path.display(), e);
    for entry in fs::read_dir(out).map_err(|e| failed(out, e))? {
        let path = entry.map_err(|e| failed(out, e))?.path();
        if path.join(folder::ABOUT).is_file() {
            fs::remove_dir_all(&path).map_err(|e| failed(&path, e))?;
        }
    }
    Ok(())
}
