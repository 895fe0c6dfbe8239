//! `heading`: model, engine and machine in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was recorded, in words: the first lines of every view. Unknown parts are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Heading {
    /// The model, by the file of its weights; without one, the traced programs.
    pub name: String,
    /// Types of the weights by bytes, layers, size.
    pub model: Vec<String>,
    /// Program (if `name` is a model), version, threads and their CPUs.
    pub engine: Vec<String>,
    /// Board, CPU, number of CPUs, kernel, length of the recording.
    pub machine: Vec<String>,
}
