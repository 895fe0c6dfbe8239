//! A folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process;

use profinfer_cli::{Diagnostic, Result};

use super::Written;

/// Writes to a name that begins with a dot, which readers ignore. When the file is on disk, links
/// it to its final name. Unlike a rename, a link fails if the name is taken.
pub(super) fn create(path: &Path, bytes: &[u8]) -> Result<Written> {
    let written = try_create(path, bytes);
    written.map_err(|e| {
        Diagnostic::new(
            format!("writing {}", path.display()),
            e,
            "free space, or add to a folder that you may write to",
        )
    })
}

fn try_create(path: &Path, bytes: &[u8]) -> io::Result<Written> {
    if path.exists() {
        return Ok(Written::ThereAlready);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    fs::create_dir_all(folder)?;
    let partial = folder.join(format!(".{name}.{}.part", process::id()));
    let put = || {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        match fs::hard_link(&partial, path) {
            Ok(()) => Ok(Written::New),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(Written::ThereAlready),
            // File systems without links, for example on memory cards: a rename is atomic too, but
            // of two writers the later one wins.
            Err(_) => fs::rename(&partial, path).map(|()| Written::New),
        }
    };
    let written = put();
    let _ = fs::remove_file(&partial);
    // Sync the name to disk before the next file refers to this one.
    File::open(folder)?.sync_all()?;
    written
}

/// Names of all files in a folder, which need not exist.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
        };
        let unreadable = |e| Diagnostic::new(format!("reading {}", folder.display()), e, "make it readable");
        for entry in entries.map_err(unreadable)? {
            if entry.file_type().map_err(unreadable)?.is_dir() {
                open.push(entry.path());
            } else {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    Ok(names)
}

/// The folder as a URL, without a trailing `/`.
pub(super) fn url(folder: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut url = String::from("file://");
    for byte in folder.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                url.push(char::from(*byte))
            }
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    url.trim_end_matches('/').to_owned()
}
