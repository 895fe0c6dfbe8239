//! Board profiles: what a board is, and what is captured on it. Data in TOML files beside this crate; host and
//! build time only, the agent never sees them.

use serde::Deserialize;

/// A profile.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Name, as given to `--board`; the file's name without `.toml`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// `uname -m` of the board, `any` when it does not matter.
    pub machine: String,
    /// Levels to capture when the command line does not say.
    pub levels: Vec<String>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BoardError {
    /// No profile of this name.
    #[error("there is no board profile of this name; there are: {}", candidates.join(", "))]
    Unknown {
        /// The names there are.
        candidates: Vec<String>,
    },
}

/// The shipped files, name and text.
const FILES: [(&str, &str); 3] = [
    ("generic", include_str!("../generic.toml")),
    ("host", include_str!("../host.toml")),
    ("rk3588", include_str!("../rk3588.toml")),
];

impl Board {
    /// Every shipped profile, by name. A test holds that all files can be read.
    #[must_use]
    pub fn all() -> Vec<Self> {
        FILES.iter().filter_map(|(_, text)| toml::from_str(text).ok()).collect()
    }

    /// The profile of that name.
    ///
    /// # Errors
    /// With the names that there are.
    pub fn find(name: &str) -> Result<Self, BoardError> {
        let all = Self::all();
        let candidates = all.iter().map(|b| b.name.clone()).collect();
        all.into_iter().find(|b| b.name == name).ok_or(BoardError::Unknown { candidates })
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, FILES};

    #[test]
    fn every_file_is_shipped_and_whole() {
        // At run time: another clone may share the build cache.
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the crate's folder")
            .flatten()
            .filter_map(|e| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .filter(|n| n != "Cargo")
            .collect();
        files.sort();
        assert_eq!(files, FILES.map(|(name, _)| name));
        for (name, text) in FILES {
            let board: Board = toml::from_str(text).unwrap_or_else(|e| panic!("{name}.toml: {e}"));
            assert_eq!(board.name, name);
            assert!(!board.description.is_empty() && !board.levels.is_empty());
            assert!(
                board.levels.iter().all(|l| ["token", "graph", "op"].contains(&l.as_str())),
                "{name}: levels"
            );
        }
    }

    #[test]
    fn an_unknown_name_lists_the_candidates() {
        let e = Board::find("rk3599").expect_err("no such board").to_string();
        assert!(e.contains("rk3588") && e.contains("host"), "{e}");
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let e = toml::from_str::<Board>("name='x'\ndescription='d'\nmachine='m'\nlevels=[]\nspeed=1")
            .expect_err("key");
        assert!(e.to_string().contains("speed"), "{e}");
    }
}
