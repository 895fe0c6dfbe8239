//! `tracks`: contents of the timeline files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row of the timeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Track {
    /// Process; 0 when the stream did not tell.
    pub process: u32,
    /// Name, unique in its process: `token`, `graph`, or name and id of the thread.
    pub track: String,
    /// What it shows.
    pub kind: TrackKind,
    /// Thread that made the calls or ran the operators.
    pub tid: u32,
    /// Number of slices.
    pub slices: u64,
    /// Sum of their lengths, ns; a slice inside another counts too.
    pub total_ns: u64,
}

/// What a track shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrackKind {
    /// Token calls.
    #[default]
    Token,
    /// Graph-level calls: whole graphs with the splits that the backends computed inside.
    Graph,
    /// Operators of one thread, and its waits at the barrier.
    Thread,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
