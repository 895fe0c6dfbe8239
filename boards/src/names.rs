//! The names of a board: that of its profile, aliases, models.

use std::collections::BTreeMap;

use profinfer_wire::options::{board_letters, same_board};

use crate::board::Board;
use crate::error::BoardError;
use crate::parse::{BoardFile, File};

fn key(name: &str) -> String {
    board_letters(name).collect()
}

/// Every name of the board.
fn all(board: &Board) -> impl Iterator<Item = &str> {
    let others = board.aliases.iter().chain(&board.models).map(String::as_str);
    std::iter::once(board.name.as_str()).chain(others)
}

pub(crate) fn is_called(board: &Board, name: &str) -> bool {
    all(board).any(|n| same_board(n, name))
}

/// Letters and digits that a name must have, for its part to stand for it.
const PART: usize = 4;

/// How much a name differs from the wanted one: letters to change. A name of which the wanted one is a part, or
/// the beginning with a slip of the hand, differs by what is to be changed in that part, and one more.
fn distance(wanted: &str, name: &str) -> usize {
    let whole = strsim::damerau_levenshtein(wanted, name);
    let letters = wanted.chars().count();
    if letters.min(name.chars().count()) < PART {
        return whole;
    }
    // A slip of the hand may be a letter more, or less.
    let beginnings = letters - 1..=letters + 1;
    let slips =
        beginnings.map(|n| strsim::damerau_levenshtein(wanted, &name.chars().take(n).collect::<String>()));
    let part = if name.contains(wanted) || wanted.contains(name) { 0 } else { slips.min().unwrap_or(whole) };
    whole.min(part + 1)
}

/// The most similar name, if a slip of the hand explains the difference: one letter in three.
pub(crate) fn similar<'a>(boards: impl Iterator<Item = &'a Board>, name: &str) -> Option<String> {
    let wanted = key(name);
    let names = boards.flat_map(|board| all(board).map(move |n| (n, board)));
    // Of equal ones, that of the most similar length.
    let difference = |n: &str| (distance(&wanted, &key(n)), key(n).len().abs_diff(wanted.len()));
    let ((distance, _), name, board) =
        names.map(|(n, b)| (difference(n), n, b)).min_by_key(|(difference, ..)| *difference)?;
    // A bare number of a chip says little.
    let model = board.models.iter().find(|model| !same_board(model, name));
    (distance * 3 <= wanted.chars().count()).then(|| match model {
        _ if name != board.name => format!("`{name}` (profile {})", board.name),
        Some(model) => format!("`{name}` ({model})"),
        None => format!("`{name}`"),
    })
}

/// Checks that no two profiles of a folder have an alias in common. Models may overlap: they are
/// parts of longer names.
pub(crate) fn check(files: &BTreeMap<String, File<BoardFile>>) -> Result<(), BoardError> {
    let mut taken: BTreeMap<(u32, String), &str> = BTreeMap::new();
    for file in files.values() {
        for alias in &file.value.aliases {
            let key = key(alias.as_ref());
            if key.is_empty() {
                return Err(file.wrong(alias.span(), "an alias needs letters or digits".to_owned()));
            }
            let name = file.value.name.as_str();
            if let Some(other) = taken.insert((file.layer, key), name).filter(|other| *other != name) {
                let what = format!("the profile `{other}` has the alias `{}` too", alias.as_ref());
                return Err(file.wrong(alias.span(), what));
            }
        }
    }
    Ok(())
}
