//! `backends.json`: operators by shape on the backends of several recordings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accelerator::{OnBackend, Shape};
use super::profile::ProfileJoin;

/// `backends.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Backends {
    /// Schema version.
    pub schema: u32,
    /// True until this version is released. Fields of a draft may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// The recordings.
    pub recordings: Vec<BackendsRecording>,
    /// Operators by shape; shapes with times of several backends or recordings come first.
    pub rows: Vec<SeveralRow>,
}

/// A recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendsRecording {
    /// Name of the recording.
    pub name: String,
    /// Accelerator profiles of this recording.
    pub profiles: Vec<ProfileJoin>,
}

/// Operators of one shape in all recordings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeveralRow {
    /// The shape, or all shapes that match the kernels.
    pub shapes: Vec<Shape>,
    /// Times by recording, then the longest first.
    pub backends: Vec<InRecording>,
}

/// Times of one backend in one recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InRecording {
    /// Index in `recordings`.
    pub recording: u64,
    /// Times.
    #[serde(flatten)]
    pub on: OnBackend,
}
