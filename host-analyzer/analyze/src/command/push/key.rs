//! `--key`: a key that this machine and the board share, instead of a forwarded port.

use std::path::Path;

use profinfer_secure::{Key, file};

use super::agent::{self, Files};
use super::board::Board;
use super::run::Host;
use crate::{Diagnostic, Result};

/// Makes the key file, readable for its owner alone. An existing one is used as it is.
pub(super) fn make(host: &Host, path: &Path, address: &str) -> Result<()> {
    let tried = || format!("making the key file {}", path.display());
    if path.exists() {
        let read = file::read(path);
        return read.map(drop).map_err(|e| {
            Diagnostic::new(format!("reading the key file {}", path.display()), &e, e.help(path))
        });
    }
    host.note(&format!("making a key of 32 random bytes: {}", path.display()));
    if host.dry {
        return Ok(());
    }
    let name: String = address
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .take(64)
        .collect();
    let wrong = |e: &dyn std::fmt::Display| Diagnostic::new(tried(), e, "choose another place: --key FILE");
    let secret = Key::secret().map_err(|e| wrong(&e))?;
    let key = Key::new(&name, secret).map_err(|e| wrong(&e))?;
    file::create(path, &key).map_err(|e| Diagnostic::new(tried(), &e, e.help(path)))
}

/// Copies the key over the trusted connection. The file on the board gets its mode before the key is
/// written.
pub(super) fn copy(board: &Board<'_>, path: &Path, files: &Files) -> Result<()> {
    let there = files.key();
    let made = board.there(&format!("umask 077; rm -f {there}; : >{there}"))?;
    if !made.ok() {
        return Err(made.error(format!("making {there} on the board"), "choose another folder: --dir DIR"));
    }
    let sent = board.connector.put(board.host, path, &there, board.host.limit())?;
    if !sent.ok() {
        let help = "check that the folder is writable and has room, or choose another one: --dir DIR";
        return Err(sent.error(format!("copying the key to {there}"), help));
    }
    let closed = board.there(&format!("chmod 600 {there}"))?;
    if !closed.ok() {
        return Err(closed.error(format!("setting the mode of {there}"), "choose another folder: --dir DIR"));
    }
    if board.host.dry || agent::is_same(board, path, &there, true)? {
        return Ok(());
    }
    Err(Diagnostic::new(
        format!("checking the copy {there}"),
        "it is not the key that was sent",
        "run this again",
    ))
}
