//! `weights`: the memory that holds the weights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weights that the graphs of one context read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weights {
    /// Process.
    pub pid: u32,
    /// Address of the context in hex; `null` when there was no token call around.
    pub context: Option<String>,
    /// Number of weights.
    pub tensors: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of them, in mappings of files; these four are `null` when nothing was recorded of where
    /// weights lie.
    pub mapped_bytes: Option<u64>,
    /// In memory of the process's own.
    pub own_bytes: Option<u64>,
    /// On devices.
    pub device_bytes: Option<u64>,
    /// Nobody knows where.
    pub unknown_bytes: Option<u64>,
    /// The same by type of buffer and file, the largest first; empty when nothing was recorded.
    pub buffers: Vec<WeightBuffer>,
}

/// Weights of one context in buffers of one type in one kind of memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeightBuffer {
    /// The type as the engine calls it; `null` when it is not known.
    pub buffer: Option<String>,
    /// `file`, `anonymous`, `device` or `unknown`.
    pub memory: Memory,
    /// The mapped file; `null` for other memory.
    pub path: Option<String>,
    /// Number of weights.
    pub tensors: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The memory that holds a weight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// A file that the process maps: shared with the page cache.
    File,
    /// Memory of the process: copied or repacked weights.
    Anonymous,
    /// Memory of a device.
    Device,
    /// The agent could not tell.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
