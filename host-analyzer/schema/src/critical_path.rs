//! `critical_paths`: the longest chain of dependent operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The critical path of one graph of dag.json in phase `decode`: the longest chain of operators
/// that wait for each other. An operator waits for its sources. It also waits for the previous user
/// of the same memory if one of the two writes it, for example `SET_ROWS` into the cache and
/// attention that reads a view of the cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriticalPath {
    /// `id` of the graph in dag.json.
    pub graph: u32,
    /// Nodes that have a time.
    pub nodes: u64,
    /// Sum of the median wall times of all nodes, ns.
    pub sum_ns: u64,
    /// Sum of the median wall times on the path, ns.
    pub path_ns: u64,
    /// Nodes on the path that have a time.
    pub path_nodes: u64,
    /// `sum_ns` / `path_ns`: average number of operators that could run in parallel; `null` without
    /// times.
    pub width_ratio: Option<f64>,
    /// `sum_ns` - `path_ns`, ns: upper bound of what parallel branches can save. All threads
    /// already work on each operator, so the real saving is smaller.
    pub saving_ns: u64,
    /// Operators off the path, the longest time first.
    pub branches: Vec<Branch>,
}

/// Operators off the path with the same name except for the layer number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// Tensor name without the layer number.
    pub name: String,
    /// Operator.
    pub op: String,
    /// Number of nodes.
    pub nodes: u64,
    /// Sum of their median wall times, ns.
    pub time_ns: u64,
    /// Tensor name of the operator on the path that runs while most of these could run; `null` if
    /// there is none.
    pub parallel_to: Option<String>,
}
