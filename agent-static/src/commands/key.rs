//! The command `keygen`, and reading the key that the command line names.

use std::path::Path;

use profinfer_secure::{Key, file};

use crate::cli::Keygen;
use crate::error::{Diagnostic, Result, log};

pub(super) fn keygen(options: &Keygen) -> Result<i32> {
    let path = &options.file;
    let tried = format!("making the key file {}", path.display());
    let board = options.board.clone().unwrap_or_else(machine);
    let secret = Key::secret().map_err(|e| {
        Diagnostic::new(
            &tried,
            e,
            "wait some seconds after boot, until the kernel has random bytes, then try again",
        )
    })?;
    let key = Key::new(&board, secret).map_err(|_| {
        let answer = format!("`{board}` is not a valid board name");
        Diagnostic::new(&tried, answer, "give --board a name of 1 to 64 letters, digits and `-`, `_`, `.`")
    })?;
    file::create(path, &key).map_err(|e| Diagnostic::new(&tried, &e, e.help(path)))?;
    log(&format!("{}: key for {board}; copy it to the host over a trusted connection", path.display()));
    Ok(0)
}

/// The host name, reduced to the characters that a board name may have.
fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String =
        name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    if name.is_empty() { "board".to_owned() } else { name[..name.len().min(64)].to_owned() }
}

pub(super) fn read(path: Option<&Path>) -> Result<Option<Key>> {
    let Some(path) = path else { return Ok(None) };
    let read = file::read(path);
    read.map(Some)
        .map_err(|e| Diagnostic::new(format!("reading the key file {}", path.display()), &e, e.help(path)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_machine_has_a_name() {
        assert!(profinfer_secure::Key::new(&super::machine(), [0; 32]).is_ok());
    }
}
