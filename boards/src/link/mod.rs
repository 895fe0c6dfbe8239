//! What one file cannot know of another: cores and backends put in place of their names, and all checks that need
//! more than the shape of a file.

mod backend;
mod board;
mod cores;

pub(crate) use backend::check_backend;
pub(crate) use board::board;
pub(crate) use cores::check_core;

use crate::error::nearest;

/// At most so many candidates are named.
const CANDIDATES: usize = 5;

/// ` `X`; nearest: A, B`, or all when there are few.
fn candidates<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut names = nearest(wanted, names);
    let all = names.len() <= CANDIDATES;
    names.truncate(CANDIDATES);
    match (names.is_empty(), all) {
        (true, _) => "there is none".to_owned(),
        (_, true) => format!("there are: {}", names.join(", ")),
        _ => format!("nearest: {}", names.join(", ")),
    }
}
