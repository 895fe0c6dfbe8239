//! Topologies of graphs, and their computations.

use super::rows::rows;
use super::text::Text;
use super::thread::ThreadId;
use super::token::LlamaCallId;
use super::weight::BufferId;

/// Position in [`Topologies`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopologyId(pub u32);

/// Position in [`Topology::nodes`]: first the nodes in the engine's order, then the leafs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIdx(pub u32);

/// Position in [`GraphCalls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphCallId(pub u32);

/// The role of a tensor in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Computed by the graph.
    Node,
    /// Weight of the model.
    Weight,
    /// KV cache or another state that outlives the graph.
    Cache,
    /// Set before the graph runs.
    Input,
    /// None of these, according to name and flags.
    Other,
}

impl Role {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Weight => "weight",
            Self::Cache => "cache",
            Self::Input => "input",
            Self::Other => "other",
        }
    }
}

/// One tensor of a topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Tensor name.
    pub name: Text,
    /// Operator, for example `MUL_MAT`; `NONE` for leafs.
    pub op: Text,
    /// Operator as the engine describes it (`SILU` for a `UNARY`).
    pub desc: Text,
    /// Element type.
    pub dtype: Text,
    /// Its role.
    pub role: Role,
    /// Elements per dimension, the fastest first.
    pub ne: [u64; 4],
    /// Bytes of its elements; 0 when the type is unknown.
    pub bytes: u64,
    /// Address of the struct in the engine.
    pub address: u64,
    /// Address of the data; 0 when unset.
    pub data: u64,
    /// The buffer that holds its data; only for weights.
    pub buffer: Option<BufferId>,
    /// The tensor that it is a view of.
    pub view_of: Option<NodeIdx>,
    /// Sources with their slot, empty slots left out.
    pub src: Vec<(u8, NodeIdx)>,
}

/// Topology of one graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Process that computes it.
    pub pid: u32,
    /// Number of nodes; the rest of `nodes` are leafs.
    pub n_nodes: u32,
    /// Nodes, then leafs. A lost tensor has an empty name and operator.
    pub nodes: Vec<Node>,
    /// Every tensor arrived.
    pub complete: bool,
}

impl Topology {
    /// One tensor.
    #[must_use]
    pub fn node(&self, i: NodeIdx) -> &Node {
        &self.nodes[i.0 as usize]
    }
}

/// All topologies of a session.
#[derive(Debug, Default, Clone)]
pub struct Topologies {
    /// By position.
    pub rows: Vec<Topology>,
}

impl Topologies {
    /// One topology.
    #[must_use]
    pub fn get(&self, id: TopologyId) -> &Topology {
        &self.rows[id.0 as usize]
    }

    /// All topologies with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (TopologyId, &Topology)> + '_ {
        (0..).map(TopologyId).zip(&self.rows)
    }
}

/// The level at which a call was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// A complete graph, given to the backend scheduler.
    Scheduler,
    /// A split of it, computed by one backend.
    Backend,
}

/// Name of a backend; the empty text for the scheduler.
pub type Backend = Text;

/// Columns, one row per call, by start time.
#[derive(Debug, Default, Clone)]
pub struct GraphCalls {
    /// Entry, ns.
    pub start_ns: Vec<u64>,
    /// Length, ns.
    pub duration_ns: Vec<u64>,
    /// Layer.
    pub layer: Vec<Layer>,
    /// Backend.
    pub backend: Vec<Backend>,
    /// Topology, where it was read.
    pub topology: Vec<Option<TopologyId>>,
    /// Nodes.
    pub n_nodes: Vec<u32>,
    /// Tokens in the batch; 0 when unknown.
    pub n_tokens: Vec<u32>,
    /// Position of the batch's first token; `None` when unknown.
    pub n_past: Vec<Option<u32>>,
    /// Calling thread.
    pub thread: Vec<ThreadId>,
    /// Decode call around it.
    pub decode: Vec<Option<LlamaCallId>>,
    /// Scheduler-layer call around it.
    pub parent: Vec<Option<GraphCallId>>,
}

rows!(GraphCalls, start_ns);

impl GraphCalls {
    /// Entry and end of a call, ns; the end is never before the entry.
    #[must_use]
    pub fn bounds(&self, call: GraphCallId) -> (u64, u64) {
        let start = self.start_ns[call.0 as usize];
        (start, start.saturating_add(self.duration_ns[call.0 as usize]))
    }
}

impl super::Model {
    /// Whether the CPU's backend computes this split.
    #[must_use]
    pub fn computes_on_cpu(&self, call: GraphCallId) -> bool {
        self.texts.get(self.graph_calls.backend[call.0 as usize]) == "CPU"
    }
}
