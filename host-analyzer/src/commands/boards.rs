//! `analyze boards`.

use std::io::Write;

use profinfer_boards::Board;

use super::{Diagnostic, Result};

pub(super) fn boards(name: Option<&str>) -> Result<()> {
    let mut out = anstream::stdout().lock();
    let _ = match name {
        None => Board::all().iter().try_for_each(|b| writeln!(out, "{:18} {}", b.name, b.description)),
        Some(name) => {
            let b = find(name)?;
            let levels = b.levels.join(", ");
            writeln!(out, "{}\n  {}\n  machine: {}\n  levels: {levels}", b.name, b.description, b.machine)
        }
    };
    Ok(())
}

/// The profile of that name.
pub(super) fn find(name: &str) -> Result<Board> {
    Board::find(name).map_err(|e| {
        Diagnostic::new(
            format!("looking up board `{name}`"),
            e,
            "`analyze boards` lists them with descriptions",
        )
    })
}
