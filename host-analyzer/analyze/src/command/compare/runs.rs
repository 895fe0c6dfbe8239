//! The recordings that are the runs of one side.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Diagnostic, Result};
use crate::capture::rotate::is_piece;

/// The runs of a path: a file is one run; a folder contains recordings and folders with one
/// recording each. A returned path that is a folder is a recording in pieces.
pub(crate) fn of(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let opened = |e: io::Error| {
        Diagnostic::new(
            format!("opening {}", path.display()),
            e,
            "give a recording or a folder of recordings",
        )
    };
    let found = within(path).map_err(opened)?;
    if found.is_empty() {
        return Err(Diagnostic::new(
            format!("looking for recordings in {}", path.display()),
            "the folder contains none",
            "give a recording (.pfi), a folder of recordings, or a folder of folders with one recording each",
        ));
    }
    Ok(found)
}

fn within(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    if entries.iter().any(|p| has(p, is_piece)) {
        found.push(folder.to_owned());
    }
    for entry in entries {
        if entry.is_dir() {
            found.extend(one_recording(&entry)?);
        } else if has(&entry, |name| name.ends_with(".pfi") && !is_piece(name)) {
            found.push(entry);
        }
    }
    Ok(found)
}

/// The recording in a subfolder, if the subfolder is the output of one capture.
fn one_recording(folder: &Path) -> io::Result<Option<PathBuf>> {
    let names: Vec<PathBuf> = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<_>>()?;
    let whole = names.iter().find(|p| has(p, |name| name == "recording.pfi"));
    let pieces = names.iter().any(|p| has(p, is_piece)).then(|| folder.to_owned());
    Ok(whole.cloned().or(pieces))
}

fn has(path: &Path, like: impl Fn(&str) -> bool) -> bool {
    path.file_name().and_then(|n| n.to_str()).is_some_and(like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_folder() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let touch = |name: &str| -> io::Result<()> {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(dir.path()))?;
            fs::write(path, "")
        };
        let names = |path: &Path| -> Vec<String> {
            let found = of(path).unwrap_or_default();
            found.iter().map(|p| p.strip_prefix(dir.path()).unwrap_or(p).display().to_string()).collect()
        };
        for name in
            ["a/2.pfi", "a/1.pfi", "a/notes.txt", "b/recording-0001.pfi", "b/recording-0002.pfi", "b/x.pfi"]
        {
            touch(name)?;
        }
        for name in
            ["c/r1/recording.pfi", "c/r2/recording-0001.pfi", "c/r2/recording-0002.pfi", "c/r3/report.html"]
        {
            touch(name)?;
        }
        fs::create_dir(dir.path().join("d"))?;
        assert_eq!(names(&dir.path().join("a")), ["a/1.pfi", "a/2.pfi"]);
        assert_eq!(names(&dir.path().join("b")), ["b", "b/x.pfi"]);
        assert_eq!(names(&dir.path().join("c")), ["c/r1/recording.pfi", "c/r2"]);
        assert_eq!(names(&dir.path().join("a/1.pfi")), ["a/1.pfi"]);
        assert!(of(&dir.path().join("d")).is_err());
        Ok(())
    }
}
