//! The source of a summary: a folder that `analyze` wrote, or a recording that `analyze` reads now.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use profinfer_cli::{Diagnostic, Result};
use profinfer_schema::Summary;

use crate::summary;

const SUMMARY: &str = "summary.json";

/// Exit status of `analyze` if nothing was traced.
const NOTHING_TRACED: i32 = 3;
/// Limit of the size of a summary.
const MOST_BYTES: u64 = 1 << 30;

/// The summary of one recording or folder.
///
/// # Errors
///
/// If the source cannot be read, or the error of `analyze`.
pub(crate) fn summary(source: &Path, analyze: Option<&Path>) -> Result<Summary> {
    let written = source.join(SUMMARY);
    if written.is_file() {
        return read(&written);
    }
    let full = source.canonicalize().map_err(|e| {
        Diagnostic::new(format!("opening {}", source.display()), e, "name recordings or folders")
    })?;
    let folder = Scratch::new().map_err(|e| {
        Diagnostic::new("making a folder for what `analyze` writes", e, "free space, or set TMPDIR")
    })?;
    run(&program(analyze), &full, &folder.0)?;
    read(&folder.0.join(SUMMARY))
}

fn read(path: &Path) -> Result<Summary> {
    let tried = || format!("reading {}", path.display());
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
        .map_err(|e| Diagnostic::new(tried(), e, "name a recording, or a folder that `analyze` wrote"))?;
    summary::parse(&bytes).map_err(|e| {
        Diagnostic::new(
            tried(),
            e,
            "read the recording again with the `analyze` of this release, and add the result",
        )
    })
}

/// The named `analyze`, the one that started this program, the one next to it, or the one in PATH.
fn program(named: Option<&Path>) -> PathBuf {
    let beside = || env::current_exe().ok().and_then(|own| Some(own.parent()?.join("analyze")));
    let named = named.map(Path::to_owned).or_else(|| env::var_os("PROFINFER_ANALYZE").map(PathBuf::from));
    named.or_else(|| beside().filter(|path| path.is_file())).unwrap_or_else(|| "analyze".into())
}

fn run(analyze: &Path, recording: &Path, folder: &Path) -> Result<()> {
    let options = [OsStr::new("--only"), OsStr::new(SUMMARY), OsStr::new("--out"), folder.as_os_str()];
    let output =
        Command::new(analyze).args(options).arg(recording).stdin(Stdio::null()).output().map_err(|e| {
            let help = "put `analyze` next to this program or into PATH, or name it with --analyze";
            Diagnostic::new(format!("starting {}", analyze.display()), e, help)
        })?;
    // Exit status 3: the summary shows that nothing was traced.
    if output.status.success() || output.status.code() == Some(NOTHING_TRACED) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ");
    let help = format!("run `analyze {}`; it must succeed first", recording.display());
    Err(Diagnostic::new(
        format!("analyzing {}", recording.display()),
        format!("{} ({})", said, output.status),
        help,
    ))
}

/// A temporary folder, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("analyze-fleet-{}-{n}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left by a killed process with the same ID.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
