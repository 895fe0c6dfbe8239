//! The files of the output folder: one table that maps names to views.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::capture::observer::CaptureObserver;
use crate::progress::Progress;
use crate::{Diagnostic, Result, diagnostic};
use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use profinfer_views as views;
use profinfer_views::files::{CHROME, CSV, PERFETTO, REPORT, VIEWS, View};
use profinfer_views::words;

/// A [`View`] that captures its options.
type Writer = dyn Fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()> + Sync;

struct File {
    name: String,
    view: Box<Writer>,
}

/// Bytes of Perfetto's timeline from which on its size is printed before it is written.
const ANNOUNCED: u64 = 100_000_000;

/// Poll interval while the views are written.
const LOOK: Duration = Duration::from_millis(2);

/// Names of the default views.
pub(crate) fn names() -> [&'static str; 9] {
    VIEWS.map(|(name, _)| name)
}

/// Options that change the set of files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extra<'a> {
    /// If not empty, only these views are written.
    pub(crate) only: &'a [String],
    /// Also write the tables as CSV.
    pub(crate) csv: bool,
    /// Write the timeline as JSON, too.
    pub(crate) chrome: bool,
    /// Maximum number of slices in one part of the Perfetto timeline.
    pub(crate) part: u64,
}

/// Removes the views of an earlier recording. They would be next to the folders of this recording's
/// engines.
pub(crate) fn remove_views(out: &Path) -> Result<()> {
    folder(out)?;
    let views = VIEWS.iter().chain(&CSV).chain([&CHROME]).map(|(name, _)| *name);
    remove_others(out, |name| is_part(name) || views.clone().any(|view| view == name), &[])
}

/// Name of the folder of one engine: `12345-llama-cli`. Escapes the name, because the process chose
/// it.
pub(crate) fn folder_name(pid: u32, name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().take(40).map(plain).collect();
    format!("{pid}-{name}")
}

pub(crate) fn folder(out: &Path) -> Result<()> {
    fs::create_dir_all(out).map_err(|e| {
        Diagnostic::new(format!("making the folder {}", out.display()), e, "choose another place with --out")
    })
}

/// Writes the views, and returns the names of their files, sorted. Keeps files with other names in
/// the folder.
pub(crate) fn views(model: &Model, analysis: &Analysis, out: &Path, extra: Extra<'_>) -> Result<Vec<String>> {
    folder(out)?;
    let mut progress = Progress::new("writing");
    if !extra.only.is_empty() {
        let wanted = VIEWS.into_iter().filter(|(name, _)| extra.only.iter().any(|only| only == name));
        let files = files(model, analysis, wanted, extra.part);
        write_all(&files, model, analysis, out, &mut progress)?;
        remove_others(out, |name| is_part(name) && extra.only.iter().any(|only| only == PERFETTO), &files)?;
        progress.done();
        return Ok(names_of(&files));
    }
    let csv = if extra.csv { &CSV[..] } else { &[] };
    let chrome = extra.chrome.then_some(&CHROME).into_iter();
    let wanted = chrome.chain(csv).chain(&VIEWS).copied();
    let files = files(model, analysis, wanted, extra.part);
    write_all(&files, model, analysis, out, &mut progress)?;
    remove_others(out, |name| is_part(name) || name == CHROME.0, &files)?;
    progress.done();
    Ok(names_of(&files))
}

fn names_of(files: &[File]) -> Vec<String> {
    let mut names: Vec<_> = files.iter().map(|file| file.name.clone()).collect();
    names.sort();
    names
}

/// The files of some views: one per view, but as many parts of the Perfetto timeline as a viewer
/// needs. Announces a large timeline.
fn files(
    model: &Model,
    analysis: &Analysis,
    wanted: impl Iterator<Item = (&'static str, View)>,
    part: u64,
) -> Vec<File> {
    let mut files = Vec::new();
    for (name, view) in wanted {
        if name != PERFETTO {
            files.push(File { name: name.to_owned(), view: Box::new(view) });
            continue;
        }
        let parts = views::perfetto::parts(model, analysis, part);
        let bytes = views::perfetto::bytes(model, analysis);
        if bytes >= ANNOUNCED || parts.len() > 1 {
            let _ = writeln!(io::stderr(), "{}", words::timeline::size(&parts, bytes));
        }
        files.extend(parts.into_iter().map(|part| File {
            name: part.name(),
            view: Box::new(move |model, analysis, out| views::perfetto::part(model, analysis, part, out)),
        }));
    }
    files
}

/// True for the Perfetto timeline and for its parts.
fn is_part(name: &str) -> bool {
    let number = name.strip_prefix("timeline-").and_then(|rest| rest.strip_suffix(".pftrace"));
    name == PERFETTO || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Removes files of an earlier recording that would be next to the views of this one.
fn remove_others(out: &Path, ours: impl Fn(&str) -> bool, written: &[File]) -> Result<()> {
    let unwritable = |e| diagnostic::unwritable(out.display(), e);
    for entry in fs::read_dir(out).map_err(unwritable)? {
        let entry = entry.map_err(unwritable)?;
        let name = entry.file_name();
        let stale = name.to_str().is_some_and(|name| ours(name) && written.iter().all(|f| f.name != name));
        if stale {
            let path = entry.path();
            fs::remove_file(&path).map_err(|e| diagnostic::unwritable(path.display(), e))?;
        }
    }
    Ok(())
}

/// Writes views on all cores; views do not depend on each other. After an error, no further view is
/// started. The report is written before the others, which may leave no space.
fn write_all(
    files: &[File],
    model: &Model,
    analysis: &Analysis,
    out: &Path,
    progress: &mut Progress,
) -> Result<()> {
    let written = |file: &File| {
        let path = out.join(&file.name);
        write(&path, file, model, analysis).map_err(|e| diagnostic::unwritable(path.display(), e))
    };
    let (report, others): (Vec<&File>, Vec<&File>) = files.iter().partition(|file| file.name == REPORT);
    for file in report {
        progress.say(&file.name);
        written(file)?;
    }
    let next = AtomicUsize::new(0);
    let (begun, heard) = channel();
    let one = || {
        while let Some(file) = others.get(next.fetch_add(1, Ordering::Relaxed)) {
            // The receiver lives until all views are written.
            let _ = begun.send(file.name.as_str());
            if let Err(e) = written(file) {
                next.store(others.len(), Ordering::Relaxed);
                return Err(e);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from).min(others.len());
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(one)).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            if let Ok(name) = heard.recv_timeout(LOOK) {
                progress.say(name);
            }
        }
        let joined = |t: thread::ScopedJoinHandle<'_, Result<()>>| {
            t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let results: Vec<Result<()>> = threads.into_iter().map(joined).collect();
        results.into_iter().collect::<Result<()>>()
    })
}

/// Writes to a temporary name first, so that a reader never sees a partial file.
fn write(path: &Path, File { view, .. }: &File, model: &Model, analysis: &Analysis) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let result = fs::File::create(&partial).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        view(model, analysis, &mut out)?;
        out.flush()
    });
    match result {
        Ok(()) => fs::rename(&partial, path),
        Err(e) => {
            let _ = fs::remove_file(&partial);
            Err(e)
        }
    }
}
