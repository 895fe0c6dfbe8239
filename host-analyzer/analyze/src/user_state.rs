//! The folder for what `analyze` keeps for its user between runs.

use std::env;
use std::path::PathBuf;

/// `$XDG_STATE_HOME/profinfer/NAME`, else that in `~/.local/state`, or on Windows in
/// `%LOCALAPPDATA%`. `None` where the user has none.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    // XDG specification: ignore a relative or empty path.
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let local = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("LOCALAPPDATA")).or_else(local);
    state.map(|state| state.join("profinfer").join(name))
}
