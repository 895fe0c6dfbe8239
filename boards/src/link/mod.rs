//! Resolves the names of cores and backends to the files of these names, and does all checks that
//! need more than one file, or more than the form of one.

mod backend;
mod board;
mod cores;

pub(crate) use backend::check_backend;
pub(crate) use board::board;
pub(crate) use cores::check_core;

use crate::error::nearest;

/// Most candidates that are named.
const CANDIDATES: usize = 5;

/// `nearest: A, B`, or all names when there are few.
fn candidates<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut names = nearest(wanted, names);
    let all = names.len() <= CANDIDATES;
    names.truncate(CANDIDATES);
    match (names.is_empty(), all) {
        (true, _) => "none is known".to_owned(),
        (_, true) => format!("known: {}", names.join(", ")),
        _ => format!("nearest: {}", names.join(", ")),
    }
}
