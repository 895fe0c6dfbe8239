//! `critical_paths`: operators that wait for each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The critical path of one graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriticalPath {
    /// The graph, as in dag.json.
    pub graph: u32,
    /// Nodes with a time.
    pub nodes: u64,
    /// Sum of their medians, ns.
    pub sum_ns: u64,
    /// The longest chain of nodes that wait for each other, ns.
    pub path_ns: u64,
    /// Nodes with a time on it.
    pub path_nodes: u64,
    /// Sum divided by path: how many operators could run at a time on average; `null` without
    /// times.
    pub width_ratio: Option<f64>,
    /// Sum less path: saved at most if all branches ran side by side and none slowed down another,
    /// ns.
    pub saving_ns: u64,
    /// What is off the path, the longest time first.
    pub branches: Vec<Branch>,
}

/// Nodes off the path that have the same name but for the layer's number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// Tensor name without the layer's number.
    pub name: String,
    /// Operator.
    pub op: String,
    /// How many there are.
    pub nodes: u64,
    /// Sum of their medians, ns.
    pub time_ns: u64,
    /// What is on the path while most of them could run.
    pub beside: Option<String>,
}
