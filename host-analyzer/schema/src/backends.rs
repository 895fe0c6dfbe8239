//! `backends.json`: operators by shape on the backends of several recordings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accelerator::{OnBackend, Shape};
use super::profile::ProfileJoin;

/// `backends.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Backends {
    /// Version of the schema.
    pub schema: u32,
    /// This version is not released: fields may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// The recordings.
    pub recordings: Vec<BackendsRecording>,
    /// Operators by shape; those that several backends or recordings have a time of come first.
    pub rows: Vec<SeveralRow>,
}

/// One recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendsRecording {
    /// Its name.
    pub name: String,
    /// Accelerators' own profiles of it.
    pub profiles: Vec<ProfileJoin>,
}

/// Operators of one shape in all recordings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeveralRow {
    /// The shape, or all shapes that the kernels fit.
    pub shapes: Vec<Shape>,
    /// Who computed it, by recording, then the longest first.
    pub backends: Vec<InRecording>,
}

/// One backend of one recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InRecording {
    /// Position in `recordings`.
    pub recording: u64,
    /// What it took.
    #[serde(flatten)]
    pub on: OnBackend,
}
