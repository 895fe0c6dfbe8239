//! `dag.json`: the graphs that were computed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::module::Module;
use super::phase::Phase;

/// The topology that was computed most often (ties: most recently) in one phase, context and split.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DagGraph {
    /// Index of the graph, from 0.
    pub id: u32,
    /// Phase.
    pub phase: Phase,
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex; `null` outside of `llama_decode` calls.
    pub context: Option<String>,
    /// Index among the scheduler's splits of the graph, from 0.
    pub split: u32,
    /// Number of the topology in the session.
    pub topology: u32,
    /// Backend of the latest call.
    pub backend: String,
    /// Tokens in the latest call; `null` if unknown.
    pub n_tokens: Option<u32>,
    /// Graph calls with this topology.
    pub calls: u64,
    /// Calls with captured operators. Times are for these.
    pub traced_calls: u64,
    /// Number of nodes.
    pub n_nodes: u32,
    /// Number of leafs.
    pub n_leafs: u32,
    /// The topology was received completely.
    pub complete: bool,
    /// Nodes in the engine's order, then leafs.
    pub nodes: Vec<DagNode>,
    /// Which node reads which tensor.
    pub edges: Vec<DagEdge>,
}

/// A tensor of a graph. Times are means over the executions with this topology in this phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DagNode {
    /// Index in `nodes`.
    pub index: u32,
    /// Tensor name.
    pub name: String,
    /// Operator; `NONE` for leafs.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// Element type.
    pub dtype: String,
    /// Elements per dimension.
    pub ne: [u64; 4],
    /// Bytes of the elements; `null` if unknown.
    pub bytes: Option<u64>,
    /// Role: `node`, `weight`, `cache`, `input` or `other`.
    pub role: String,
    /// Kind of memory that holds a weight: `file`, `anonymous`, `device` or `unknown`; `null` for
    /// other tensors, and if it was not recorded.
    pub memory: Option<String>,
    /// Buffer type of a weight, by its engine name; `null` for other tensors, and if unknown.
    pub buffer: Option<String>,
    /// Module of the model.
    pub module: Module,
    /// Layer, from 0; `null` outside of the layers.
    pub layer: Option<u32>,
    /// Index of the tensor that this is a view of; `null` for other tensors.
    pub view_of: Option<u32>,
    /// Position in execution order, from 0; `null` for nodes that are never executed on their own
    /// (views, reshapes, fused nodes).
    pub order: Option<u32>,
    /// Index of the node whose execution also computed this one; `null` if there is none.
    pub fused_with: Option<u32>,
    /// Number of executions.
    pub executions: u64,
    /// Wall time (first start to last end over the threads), ns; `null` without executions.
    pub wall_ns: Option<u64>,
    /// Work, summed over the threads, ns; `null` without executions.
    pub work_ns: Option<u64>,
    /// Barrier wait, summed over the threads, ns; `null` without executions, and without operator
    /// ends.
    pub wait_ns: Option<u64>,
    /// Share of the operator wall time of this graph, 0 to 1.
    pub share: f64,
    /// Executed, but not captured: a filter excluded it, or no call of the graph was traced. Its
    /// times are unknown.
    pub not_captured: bool,
    /// On the critical path; `null` for graphs of other phases than `decode`.
    pub critical: Option<bool>,
}

/// A node that reads a tensor. `ne`, `dtype` and `bytes` are those of the tensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DagEdge {
    /// Index of the tensor that is read.
    pub from: u32,
    /// Index of the node that reads it.
    pub to: u32,
    /// Source slot of that node.
    pub slot: u8,
    /// Elements per dimension.
    pub ne: [u64; 4],
    /// Element type.
    pub dtype: String,
    /// Bytes; `null` if unknown.
    pub bytes: Option<u64>,
}

/// `dag.json`: operator graphs. dag.dot has the same graphs for Graphviz.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dag {
    /// Schema version.
    pub schema: u32,
    /// True until this version is released. Fields of a draft may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// Graphs, one per phase, context and split.
    pub graphs: Vec<DagGraph>,
}
