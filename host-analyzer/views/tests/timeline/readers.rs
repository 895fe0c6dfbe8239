//! Runs the independent readers of tests/python over written files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use profinfer_views::{chrome::chrome, perfetto::perfetto, summary::summary};
use serde_json::Value;

/// The Python that has the readers' packages (scripts/requirements-tests.txt); without it a test is skipped.
pub(crate) fn python() -> Option<PathBuf> {
    Some(profinfer_skip::needed_path("PROFINFER_VENV", "scripts/test.sh")?.join("bin/python"))
}

/// The three files, in a separate folder.
pub(crate) struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub(crate) fn write(model: &Model) -> Self {
        let analysis = Analysis::compute(model);
        let folder = tempfile::tempdir().expect("a folder");
        let files = Self { folder };
        let create = |name| std::fs::File::create(files.path(name)).expect("a file");
        chrome(model, &analysis, &mut create("timeline.json")).expect("written");
        perfetto(model, &analysis, &mut create("timeline.pftrace")).expect("written");
        summary(model, &analysis, &mut create("summary.json")).expect("written");
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Slices of `timeline.json` from its reader.
    pub(crate) fn chrome_slices(&self, python: &Path) -> Vec<Value> {
        dump(python, "validate_chrome.py", &self.path("timeline.json"), &self.path("summary.json"), &[])
    }

    /// Slices of `timeline.pftrace` from its reader.
    pub(crate) fn perfetto_slices(&self, python: &Path) -> Vec<Value> {
        self.perfetto_slices_of(python, "timeline.pftrace", &[])
    }

    /// Slices of a file in Perfetto's format; `--part` if it is one of several.
    pub(crate) fn perfetto_slices_of(&self, python: &Path, name: &str, options: &[&str]) -> Vec<Value> {
        dump(python, "read_pftrace.py", &self.path(name), &self.path("summary.json"), options)
    }
}

fn dump(python: &Path, reader: &str, file: &Path, summary: &Path, options: &[&str]) -> Vec<Value> {
    let paths = [file.as_os_str(), summary.as_os_str(), OsStr::new("--dump")];
    let out = run(python, reader, paths.into_iter().chain(options.iter().map(OsStr::new)));
    assert!(out.status.success(), "{reader}: {}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON array a line")).collect()
}

/// Runs a script of tests/python.
pub(crate) fn run<'a>(python: &Path, script: &str, arguments: impl IntoIterator<Item = &'a OsStr>) -> Output {
    let script = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests"))
        .join("tests/python")
        .join(script);
    Command::new(python)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(script)
        .args(arguments)
        .output()
        .unwrap_or_else(|e| panic!("{} of PROFINFER_VENV cannot be run: {e}", python.display()))
}
