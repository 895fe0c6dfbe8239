//! `weights`: where the model weights are in memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weights that the graphs of one context read. Each weight counts once. The location is read from
/// the process's memory mappings when a graph is new, not from the name of the buffer type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weights {
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex; `null` outside of `llama_decode` calls.
    pub context: Option<String>,
    /// Number of weights.
    pub tensors: u64,
    /// Total size, bytes: the elements in the type of the model. A buffer may add padding.
    pub bytes: u64,
    /// Bytes in file mappings: shared with the page cache and read from storage at first use. This
    /// and the next three are `null` if locations were not recorded.
    pub mapped_bytes: Option<u64>,
    /// Bytes in anonymous memory: copied (without mmap), or repacked for the CPU (`CPU_REPACK`,
    /// `AMX`).
    pub own_bytes: Option<u64>,
    /// Bytes in device memory, or in no memory of the process.
    pub device_bytes: Option<u64>,
    /// Bytes with unknown location.
    pub unknown_bytes: Option<u64>,
    /// The same by buffer type and file, the largest first; empty if locations were not recorded.
    pub buffers: Vec<WeightBuffer>,
}

/// Weights of one context, by buffer type and kind of memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeightBuffer {
    /// Buffer type, by its engine name; `null` if it could not be read.
    pub buffer: Option<String>,
    /// Kind of memory.
    pub memory: Memory,
    /// Mapped file; `null` for other memory.
    pub path: Option<String>,
    /// Number of weights.
    pub tensors: u64,
    /// Size, bytes.
    pub bytes: u64,
}

/// Kind of memory that holds a weight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// File mapping: shared with the page cache.
    File,
    /// Anonymous memory: copied or repacked weights.
    Anonymous,
    /// Device memory.
    Device,
    /// Unknown to the agent.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
