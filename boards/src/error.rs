//! What can be wrong, in words for people.

/// Why there is no profile, or not this set of counters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// No profile of this name.
    #[error("there is no board profile `{name}`; there are: {}", candidates.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are, nearest first.
        candidates: Vec<String>,
    },
    /// The board's cores have no counter set of this name.
    #[error("board `{board}` has no counter set `{name}`; there are: {}", candidates.join(", "))]
    NoSet {
        /// The board.
        board: String,
        /// What was asked for.
        name: String,
        /// The sets there are, nearest first.
        candidates: Vec<String>,
    },
    /// None of the board's cores can count this.
    #[error("no core of board `{board}` has an event `{name}`; most like it are {}", candidates.join(", "))]
    NoEvent {
        /// The board.
        board: String,
        /// What was asked for.
        name: String,
        /// Events that are called alike, nearest first.
        candidates: Vec<String>,
    },
    /// A file is not as it should be.
    #[error("{path}, line {line}: {what}")]
    File {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        what: String,
    },
}

/// `names`, those that are most like `wanted` first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&wanted, &name.to_lowercase());
    let mut names: Vec<(usize, &str)> = names.map(|n| (distance(n), n)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|(_, n)| n.to_owned()).collect()
}
