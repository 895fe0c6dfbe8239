//! The files of the output folder: one table from name to view.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::onlooker::Onlooker;
use super::progress::Progress;
use super::{Diagnostic, Result};
use crate::analyses::Analysis;
use crate::model::Model;
use crate::views;

type View = fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()>;

/// Those that take longest come first, so that no core waits long for the last one.
const VIEWS: [(&str, View); 9] = [
    ("ops.parquet", views::tables::ops_parquet),
    ("timeline.pftrace", views::perfetto::perfetto),
    ("report.html", views::report::report),
    ("summary.json", views::summary::summary),
    ("dag.json", views::dag::dag),
    ("dag.dot", views::dot::dot),
    ("tokens.parquet", views::tables::tokens_parquet),
    ("experts.parquet", views::tables::experts_parquet),
    ("threads.parquet", views::tables::threads_parquet),
];

const CSV: [(&str, View); 4] = [
    ("ops.csv", views::tables::ops_csv),
    ("tokens.csv", views::tables::tokens_csv),
    ("experts.csv", views::tables::experts_csv),
    ("threads.csv", views::tables::threads_csv),
];

const CHROME: (&str, View) = ("timeline.json", views::chrome::chrome);
const CHROME_GZ: (&str, View) = ("timeline.json.gz", chrome_gz);

/// Operator spans up to which `timeline.json` is written unasked. It takes some 375 bytes for each.
const CHROME_UP_TO: usize = 200_000;

/// How often is looked whether all views are written.
const LOOK: Duration = Duration::from_millis(2);

/// Names of the views that are always written, unless only some are asked for.
pub(super) fn names() -> [&'static str; 9] {
    VIEWS.map(|(name, _)| name)
}

/// What is written beside the views that are always.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extra<'a> {
    /// If not empty, only these of the views, and nothing beside them.
    pub(super) only: &'a [String],
    /// The tables as CSV.
    pub(super) csv: bool,
    /// The timeline as JSON, of however many spans.
    pub(super) chrome: bool,
}

/// Removes views of an earlier recording: they would stand beside folders of this one's engines.
pub(super) fn remove_views(out: &Path) -> Result<()> {
    for name in VIEWS.iter().chain(&CSV).chain(&[CHROME, CHROME_GZ]).map(|(name, _)| name) {
        remove(&out.join(name))?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Diagnostic::unwritable(path.display(), e)),
        _ => Ok(()),
    }
}

/// Name of the folder of one engine: `12345-llama-cli`. The process chose its name.
pub(super) fn folder_name(pid: u32, name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().take(40).map(plain).collect();
    format!("{pid}-{name}")
}

/// Makes the folder.
pub(super) fn folder(out: &Path) -> Result<()> {
    fs::create_dir_all(out).map_err(|e| {
        Diagnostic::new(format!("making the folder {}", out.display()), e, "choose another place with --out")
    })
}

/// Writes the views. Files with other names in the folder are not touched. Returns the name of one that was left out for its size.
pub(super) fn views(
    model: &Model,
    analysis: &Analysis,
    out: &Path,
    extra: Extra<'_>,
) -> Result<Option<&'static str>> {
    folder(out)?;
    let mut progress = Progress::new("writing");
    if !extra.only.is_empty() {
        let wanted: Vec<(&str, View)> =
            VIEWS.into_iter().filter(|(name, _)| extra.only.iter().any(|only| only == name)).collect();
        write_all(&wanted, model, analysis, out, &mut progress)?;
        progress.done();
        return Ok(None);
    }
    let chrome = match extra.chrome {
        _ if model.spans.len() <= CHROME_UP_TO => Some(CHROME),
        true => Some(CHROME_GZ),
        false => None,
    };
    let csv = if extra.csv { &CSV[..] } else { &[] };
    let wanted: Vec<(&str, View)> = chrome.iter().chain(csv).chain(&VIEWS).copied().collect();
    write_all(&wanted, model, analysis, out, &mut progress)?;
    // One of an earlier recording would stand beside views of this one.
    for (name, _) in [CHROME, CHROME_GZ].iter().filter(|(name, _)| chrome.is_none_or(|(n, _)| n != *name)) {
        remove(&out.join(name))?;
    }
    progress.done();
    Ok(chrome.is_none().then_some(CHROME.0))
}

/// Writes views on as many threads as there are cores: none needs another one. After an error no further one is begun.
fn write_all(
    views: &[(&str, View)],
    model: &Model,
    analysis: &Analysis,
    out: &Path,
    progress: &mut Progress,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (begun, heard) = channel();
    let one = || {
        while let Some((name, view)) = views.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Who listens stays until all are done.
            let _ = begun.send(*name);
            let path = out.join(name);
            if let Err(e) = write(&path, *view, model, analysis) {
                next.store(views.len(), Ordering::Relaxed);
                return Err(Diagnostic::unwritable(path.display(), e));
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from).min(views.len());
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(one)).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            if let Ok(name) = heard.recv_timeout(LOOK) {
                progress.say(name);
            }
        }
        threads
            .into_iter()
            .try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// `timeline.json`, compressed, as its viewers open it too.
fn chrome_gz(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut out = GzEncoder::new(out, Compression::fast());
    views::chrome::chrome(model, analysis, &mut out)?;
    out.finish().map(drop)
}

/// Writes under another name first, so that a reader never sees half a file.
fn write(path: &Path, view: View, model: &Model, analysis: &Analysis) -> io::Result<()> {
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
