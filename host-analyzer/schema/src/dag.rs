//! `dag.json`: the graphs that were computed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::module::Module;
use super::phase::Phase;

/// One graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DagGraph {
    /// Position among the graphs.
    pub id: u32,
    /// Phase.
    pub phase: Phase,
    /// Process.
    pub pid: u32,
    /// Address of the context in hex; `null` when there was no token call around.
    pub context: Option<String>,
    /// Position among the splits into which the scheduler cut the graph, from 0.
    pub split: u32,
    /// Row of the topology in the session.
    pub topology: u32,
    /// Backend of the latest call.
    pub backend: String,
    /// Tokens in the latest call; `null` when not known.
    pub n_tokens: Option<u32>,
    /// Graph calls with this topology.
    pub calls: u64,
    /// Those of them whose operators were captured: times are of these.
    pub traced_calls: u64,
    /// Nodes.
    pub n_nodes: u32,
    /// Leafs.
    pub n_leafs: u32,
    /// The whole topology arrived.
    pub complete: bool,
    /// Nodes in the engine's order, then leafs.
    pub nodes: Vec<DagNode>,
    /// Who reads whom.
    pub edges: Vec<DagEdge>,
}

/// A tensor of a graph. Times are means over the executions with this topology.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DagNode {
    /// Position in `Dag::nodes`.
    pub index: u32,
    /// Tensor name.
    pub name: String,
    /// Operator; `NONE` for leafs.
    pub op: String,
    /// Operator as the engine describes it.
    pub desc: String,
    /// Element type.
    pub dtype: String,
    /// Elements per dimension.
    pub ne: [u64; 4],
    /// Bytes of the elements; `null` when not known.
    pub bytes: Option<u64>,
    /// `node`, `weight`, `cache`, `input` or `other`.
    pub role: String,
    /// What memory holds a weight: `file`, `anonymous`, `device` or `unknown`; `null` for other
    /// tensors, and where nothing was recorded of it.
    pub memory: Option<String>,
    /// The type of buffer that holds a weight, as the engine calls it; `null` when it is not known.
    pub buffer: Option<String>,
    /// The part of the model that it belongs to.
    pub module: Module,
    /// Its layer, from 0; `null` outside of the layers.
    pub layer: Option<u32>,
    /// The tensor that it is a view of.
    pub view_of: Option<u32>,
    /// Position in the order of execution, from 0; `null` for nodes that are never run by
    /// themselves.
    pub order: Option<u32>,
    /// The node whose execution computed this one too.
    pub fused_with: Option<u32>,
    /// Executions.
    pub executions: u64,
    /// First start to last end over the threads, ns.
    pub wall_ns: Option<u64>,
    /// Work, summed over the threads, ns.
    pub work_ns: Option<u64>,
    /// Wait at the barrier, summed over the threads, ns.
    pub wait_ns: Option<u64>,
    /// Part of the wall time of all operators of this graph, 0 to 1.
    pub share: f64,
    /// It was executed and no probe was to see it: a filter left it out, or no call of the graph
    /// was traced. Its times are not known.
    pub not_captured: bool,
    /// On the critical path; `null` where that was not looked for.
    pub critical: Option<bool>,
}

/// A node reads a tensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DagEdge {
    /// The tensor that is read.
    pub from: u32,
    /// The node that reads.
    pub to: u32,
    /// In which of its source slots.
    pub slot: u8,
    /// Elements per dimension of what is read.
    pub ne: [u64; 4],
    /// Its element type.
    pub dtype: String,
    /// Its bytes; `null` when not known.
    pub bytes: Option<u64>,
}

/// `dag.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dag {
    /// Version of the schema.
    pub schema: u32,
    /// This version is not released: fields may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// One graph for each phase, context and split.
    pub graphs: Vec<DagGraph>,
}
