//! Errors of profiles, as sentences for people.

/// Why a profile, a counter set or an event was not found, or why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// No profile of this name.
    #[error("there is no board profile `{name}`.{} Known profiles: {}", meant.as_deref().map(|m| format!(" Did you mean {m}?")).unwrap_or_default(), candidates.join(", "))]
    Unknown {
        /// The requested name.
        name: String,
        /// A name that differs by few letters, for people.
        meant: Option<String>,
        /// The known names, nearest first.
        candidates: Vec<String>,
    },
    /// The board's cores have no counter set of this name.
    #[error("board `{board}` has no counter set `{name}`; its sets: {}", candidates.join(", "))]
    NoSet {
        /// The board.
        board: String,
        /// The requested set.
        name: String,
        /// The known sets, nearest first.
        candidates: Vec<String>,
    },
    /// None of the board's cores can count this.
    #[error("no core of board `{board}` has an event `{name}`; similar events: {}", candidates.join(", "))]
    NoEvent {
        /// The board.
        board: String,
        /// The requested event.
        name: String,
        /// Events with similar names, nearest first.
        candidates: Vec<String>,
    },
    /// A profile's file has a mistake.
    #[error("{path}, line {line}: {what}")]
    File {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// The mistake, and what is allowed.
        what: String,
    },
}

/// `names` in order of similarity to `wanted`, the most similar first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&wanted, &name.to_lowercase());
    let mut names: Vec<(usize, &str)> = names.map(|n| (distance(n), n)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|(_, n)| n.to_owned()).collect()
}
