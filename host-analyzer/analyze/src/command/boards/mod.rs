//! `analyze boards`, and the catalogue of profiles.

mod files;
mod json;
mod show;

use std::io::Write;
use std::path::Path;

use profinfer_boards::{Board, BoardError, Catalog};

use crate::args::format::Format;
use crate::json::Object;
use crate::{Diagnostic, Result};

pub(crate) fn boards(name: Option<&str>, folder: Option<&Path>, format: Format) -> Result<()> {
    let catalog = catalog(folder)?;
    if format.is_json() {
        let chosen = match name {
            None => catalog.boards().collect(),
            Some(name) => vec![find(&catalog, name)?],
        };
        return crate::json::print(&Object::new(json::Boards::new(&chosen)));
    }
    let mut out = anstream::stdout().lock();
    // A pipe that closes early is no error.
    let _ = match name {
        None => show::list(&catalog, &mut out),
        Some(name) => show::board(find(&catalog, name)?, &mut out),
    };
    Ok(())
}

/// The built-in profiles, then those of the user's configuration, then those of `folder`. A later
/// profile replaces an earlier one with the same name.
pub(crate) fn catalog(folder: Option<&Path>) -> Result<Catalog> {
    let wrong = |e: BoardError| {
        let help = "correct the profile (docs/board-profiles.md), or remove it";
        Diagnostic::new("reading the board profiles", e, help)
    };
    let mut catalog = Catalog::shipped().map_err(wrong)?;
    for folder in files::configured()?.into_iter().chain(folder.map(Path::to_owned)) {
        for replaced in catalog.with_folder(files::read(&folder)?.into_iter()).map_err(wrong)? {
            let _ = writeln!(anstream::stderr(), "note: {replaced}");
        }
    }
    Ok(catalog)
}

pub(crate) fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Board> {
    catalog.find(name).map_err(|e| {
        let help = "`analyze boards` lists the boards; --boards DIR adds your own";
        Diagnostic::new(format!("looking up board `{name}`"), e, help)
    })
}
