//! `graphs`: calls of whole graphs and of their splits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calls of one layer on one backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphRow {
    /// `scheduler` for whole graphs, `backend` for the splits that a backend computed.
    pub layer: String,
    /// Name of the backend; empty for the scheduler.
    pub backend: String,
    /// Calls.
    pub calls: u64,
    /// Different topologies among them, as far as they were read.
    pub topologies: u64,
    /// Fewest nodes of a call.
    pub min_nodes: u32,
    /// Most nodes of a call.
    pub max_nodes: u32,
    /// Sum of their lengths, ns.
    pub time_ns: u64,
}
