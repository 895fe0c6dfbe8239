//! `tracks`: content of the timeline files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One track of the timeline files. Tracks without slices are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Track {
    /// Process id; 0 if not recorded.
    pub process: u32,
    /// Name, unique in its process: `token`, `graph`, or thread name and id.
    pub track: String,
    /// Type of content.
    pub kind: TrackKind,
    /// Kernel thread id.
    pub tid: u32,
    /// Number of slices, including barrier waits shorter than 1 µs, which timeline.pftrace omits.
    pub slices: u64,
    /// Sum of the slice durations, ns; nested slices count too.
    pub total_ns: u64,
}

/// Content of a track.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrackKind {
    /// `llama_decode` calls.
    #[default]
    Token,
    /// Graph calls: complete graphs, and in them the splits that backends computed.
    Graph,
    /// Operators of one thread, and its barrier waits.
    Thread,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
