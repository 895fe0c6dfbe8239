//! `graphs`: calls of complete graphs and of their splits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Calls of one layer on one backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphRow {
    /// `scheduler` for complete graphs, `backend` for the splits that a backend computed.
    pub layer: String,
    /// Backend name; empty for the scheduler.
    pub backend: String,
    /// Calls.
    pub calls: u64,
    /// Number of distinct topologies, as far as they were read.
    pub topologies: u64,
    /// Smallest number of nodes.
    pub min_nodes: u32,
    /// Largest number of nodes.
    pub max_nodes: u32,
    /// Sum of the call durations, ns.
    pub time_ns: u64,
}
