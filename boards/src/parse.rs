//! From a file's text to its values. Errors name their line.

use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::board::{Caches, Note};
use crate::{BoardError, Cpus, Memory, Provenance, Sensor};

/// A file and its value.
#[derive(Debug, Clone)]
pub(crate) struct File<T> {
    /// Path, as errors name it.
    path: String,
    text: String,
    pub(crate) value: T,
    /// 0 for the release, 1 more for each of the user's folders that was read after it.
    pub(crate) layer: u32,
}

impl<T: DeserializeOwned> File<T> {
    pub(crate) fn parse(path: &str, text: &str, layer: u32) -> Result<Self, BoardError> {
        match toml::from_str(text) {
            Ok(value) => Ok(Self { path: path.to_owned(), text: text.to_owned(), value, layer }),
            Err(e) => Err(BoardError::File {
                path: path.to_owned(),
                line: line(text, e.span().map_or(0, |s| s.start)),
                what: e.message().replace('\n', "; "),
            }),
        }
    }
}

impl<T> File<T> {
    /// An error at a position in this file.
    pub(crate) fn wrong(&self, at: Range<usize>, what: String) -> BoardError {
        BoardError::File { path: self.path.clone(), line: self.line(at), what }
    }

    /// Line of a position, from 1.
    pub(crate) fn line(&self, at: Range<usize>) -> usize {
        line(&self.text, at.start)
    }

    /// The name in the file must be the file's name, which is unique in its folder.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), BoardError> {
        let stem = stem(&self.path);
        if stem == name {
            return Ok(());
        }
        let what =
            format!("the name is `{name}`, but the file is called `{stem}.toml`: use the same name for both");
        Err(BoardError::File { path: self.path.clone(), line: 1, what })
    }
}

fn line(text: &str, at: usize) -> usize {
    // A table's position begins at its header. A position after the last line counts as the last
    // line.
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

/// `rk3588` of `…/rk3588.toml`.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".toml").unwrap_or(name)
}

/// A board as written in its file: cores and backends by name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoardFile {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) soc: String,
    pub(crate) machine: String,
    #[serde(default)]
    pub(crate) models: Vec<String>,
    #[serde(default)]
    pub(crate) aliases: Vec<Spanned<String>>,
    pub(crate) levels: Vec<Spanned<String>>,
    pub(crate) counter_set: Option<Spanned<String>>,
    /// The possible core types where the clusters are not known; `*` for all.
    #[serde(default)]
    pub(crate) cores: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) backends: Vec<Spanned<String>>,
    pub(crate) provenance: Provenance,
    #[serde(default)]
    pub(crate) clusters: Vec<ClusterFile>,
    pub(crate) caches: Option<Caches>,
    pub(crate) memory: Option<Memory>,
    #[serde(default)]
    pub(crate) uncore: Vec<Spanned<Sensor>>,
    #[serde(default)]
    pub(crate) notes: Vec<Note>,
}

/// A cluster as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterFile {
    pub(crate) core: Spanned<String>,
    pub(crate) cpus: Spanned<Cpus>,
    pub(crate) max_khz: Option<u64>,
    pub(crate) l1i_bytes: Option<u64>,
    pub(crate) l1d_bytes: Option<u64>,
    pub(crate) l2_bytes: Option<u64>,
    pub(crate) provenance: Provenance,
}
