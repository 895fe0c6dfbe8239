//! The files of the output folder: one table from name to view.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::progress::Progress;
use super::{Diagnostic, Result};
use crate::analyses::Analysis;
use crate::model::Model;
use crate::views;

type View = fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()>;

const VIEWS: [(&str, View); 10] = [
    ("report.html", views::report::report),
    ("summary.json", views::summary::summary),
    ("timeline.pftrace", views::perfetto::perfetto),
    ("timeline.json", views::chrome::chrome),
    ("dag.json", views::dag::dag),
    ("dag.dot", views::dot::dot),
    ("ops.parquet", views::tables::ops_parquet),
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

/// Makes the folder.
pub(super) fn folder(out: &Path) -> Result<()> {
    fs::create_dir_all(out).map_err(|e| {
        Diagnostic::new(format!("making the folder {}", out.display()), e, "choose another place with --out")
    })
}

/// Writes every view. Files with other names in the folder are not touched.
pub(super) fn views(model: &Model, analysis: &Analysis, out: &Path, csv: bool) -> Result<()> {
    folder(out)?;
    let mut progress = Progress::new("writing");
    for (name, view) in VIEWS.iter().chain(if csv { &CSV[..] } else { &[] }) {
        progress.say(name);
        let path = out.join(name);
        write(&path, *view, model, analysis).map_err(|e| {
            Diagnostic::new(
                format!("writing {}", path.display()),
                e,
                "free space, or choose another place with --out",
            )
        })?;
    }
    progress.done();
    Ok(())
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
