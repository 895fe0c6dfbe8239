//! The folder of the recordings.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::capture::rotate::is_piece;
use crate::{Diagnostic, Result};

/// Most recordings that are listed, and depth of the subfolders that are searched.
const MOST: usize = 500;
const DEPTH: usize = 4;

/// A folder, and everything below it.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    /// Without links, so that a path inside of it is recognised.
    root: PathBuf,
}

/// A recording in a list.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Entry {
    /// Its path in the folder: the `recording` of the other tools.
    pub(super) recording: String,
    pub(super) bytes: u64,
    /// When it was last written, seconds since 1970.
    pub(super) written_unix_s: u64,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let help = "give a folder with recordings";
        let failed = |answer: &dyn std::fmt::Display| {
            Diagnostic::new(format!("opening the folder {}", path.display()), answer, help)
        };
        let root = path.canonicalize().map_err(|e| failed(&e))?;
        if root.is_dir() { Ok(Self { root }) } else { Err(failed(&"it is not a folder")) }
    }

    /// The recordings, by name, and whether there are more.
    pub(super) fn list(&self) -> (Vec<Entry>, bool) {
        let mut found = Vec::new();
        self.search(&self.root, DEPTH, &mut found);
        found.sort_by(|a, b| a.recording.cmp(&b.recording));
        let more = found.len() > MOST;
        found.truncate(MOST);
        (found, more)
    }

    fn search(&self, folder: &Path, depth: usize, found: &mut Vec<Entry>) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut pieces: Option<Entry> = None;
        for entry in entries {
            if found.len() > MOST {
                return;
            }
            // Of a link, the link itself: it may lead out of the folder.
            let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if metadata.is_dir() && depth > 0 {
                self.search(&path, depth - 1, found);
            } else if metadata.is_file() && is_piece(&name) {
                // The pieces of a recording are one.
                let whole = pieces.get_or_insert_with(|| self.entry(folder, &metadata, 0));
                whole.bytes += metadata.len();
                whole.written_unix_s = whole.written_unix_s.max(written(&metadata));
            } else if metadata.is_file() && name.ends_with(".pfi") {
                found.push(self.entry(&path, &metadata, metadata.len()));
            }
        }
        found.extend(pieces);
    }

    fn entry(&self, path: &Path, metadata: &Metadata, bytes: u64) -> Entry {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let recording = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        Entry { recording: recording.display().to_string(), bytes, written_unix_s: written(metadata) }
    }

    /// The path of a recording of this folder.
    pub(super) fn path(&self, recording: &str) -> Result<PathBuf> {
        let tried = || format!("opening the recording {recording:?}");
        let help = "name one of list_recordings";
        let path = self.root.join(recording).canonicalize().map_err(|e| Diagnostic::new(tried(), e, help))?;
        if !path.starts_with(&self.root) {
            return Err(Diagnostic::new(tried(), "it is not in the folder of this server", help));
        }
        Ok(path)
    }
}

fn written(metadata: &Metadata) -> u64 {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_recordings_inside_are_listed_and_opened() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let outside = tempfile::tempdir()?;
        let dir = tempfile::tempdir()?;
        fs::write(outside.path().join("secret.pfi"), "x")?;
        for name in
            ["a/recording.pfi", "a/report.html", "b.pfi", "c/recording-0001.pfi", "c/recording-0002.pfi"]
        {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(dir.path()))?;
            fs::write(path, "12345")?;
        }
        std::os::unix::fs::symlink(outside.path(), dir.path().join("link"))?;
        let folder = Folder::open(dir.path())?;
        let (list, more) = folder.list();
        let names: Vec<(&str, u64)> = list.iter().map(|e| (e.recording.as_str(), e.bytes)).collect();
        assert_eq!((names, more), (vec![("a/recording.pfi", 5), ("b.pfi", 5), ("c", 10)], false));
        assert!(folder.path("b.pfi").is_ok() && folder.path("c").is_ok());
        for outside in ["link/secret.pfi", "../", "/etc/passwd", "nothing.pfi"] {
            assert!(folder.path(outside).is_err(), "{outside}");
        }
        assert!(Folder::open(&dir.path().join("b.pfi")).is_err());
        Ok(())
    }
}
