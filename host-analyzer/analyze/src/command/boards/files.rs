//! Board profiles of the user, from folders.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{Diagnostic, Result};

/// Subfolders of a profile folder that contain cores and backends, not boards.
const PARTS: [&str; 2] = ["cores", "backends"];

/// The profile folder in the user's configuration, if it exists:
/// `$XDG_CONFIG_HOME/profinfer/boards`, or the one in `~/.config`.
pub(super) fn configured() -> Result<Option<PathBuf>> {
    // XDG specification: ignore a relative or empty path.
    let given = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let config = given.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".config")));
    let Some(folder) = config.map(|config| config.join("profinfer/boards")) else { return Ok(None) };
    Ok(is_folder(&folder)?.then_some(folder))
}

/// True if the folder exists. A folder that cannot be examined is an error: its profiles would be
/// skipped silently.
fn is_folder(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(e) => Err(unreadable(path, &e)),
    }
}

/// Path and text of every profile in a folder, sorted by path.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut paths = tomls(folder)?;
    for part in PARTS.map(|p| folder.join(p)) {
        if is_folder(&part)? {
            paths.extend(tomls(&part)?);
        }
    }
    paths.sort();
    let texts = paths.into_iter().map(|path| {
        let text = fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
        Ok((path.display().to_string(), text))
    });
    texts.collect()
}

fn tomls(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|e| unreadable(folder, &e))?;
    let paths = entries.map(|e| e.map(|e| e.path()).map_err(|e| unreadable(folder, &e)));
    let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    Ok(paths)
}

fn unreadable(path: &Path, e: &std::io::Error) -> Diagnostic {
    let help = match e.kind() {
        ErrorKind::NotFound => "give an existing folder with --boards, or leave the option out",
        ErrorKind::InvalidData => "save the profile as UTF-8 text",
        _ => "make it readable for this user",
    };
    Diagnostic::new(format!("reading board profiles from {}", path.display()), e, help)
}
