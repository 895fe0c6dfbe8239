//! Graph level: topology, sent once per topology, and calls.

use serde::{Deserialize, Serialize};

use crate::batch::{Batch, Each};
pub use crate::tensor::{MAX_SRC, Role, Tensor};
use crate::tensors;

/// Head of a graph's topology. Its tensors follow in [`Tensors`] parts: the nodes `0..n_nodes` in the
/// engine's order, then the leafs (tensors that nodes read and no node of the graph computes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Number of the topology in the session, from 1.
    pub id: u32,
    /// Process.
    pub pid: u32,
    /// Nodes.
    pub n_nodes: u32,
    /// Leafs.
    pub n_leafs: u32,
}

/// Some tensors of a topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensors<'a> {
    /// The topology.
    pub topology: u32,
    /// Index of the first tensor in this part.
    pub first: u32,
    /// How many.
    pub count: u16,
    /// That many [`Tensor`]s, postcard-encoded one after the other; see [`Tensors::iter`].
    pub bytes: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Decodes the tensors.
    #[must_use]
    pub const fn iter(&self) -> Batch<'a, Each<Tensor>> {
        Batch::<Each<Tensor>>::new(self.count, self.bytes)
    }
}

/// As [`Tensors`], in the code of [`crate::tensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorBatch<'a> {
    /// The topology.
    pub topology: u32,
    /// Index of the first tensor in this part.
    pub first: u32,
    /// How many.
    pub count: u16,
    /// Number of nodes after which the topology repeats, from 1.
    pub period: u16,
    /// That many tensors.
    #[serde(serialize_with = "super::in_one")]
    pub bytes: &'a [u8],
}

impl TensorBatch<'_> {
    /// How many tensors there can be, at most as many as are announced: room for as many is needed to decode them.
    #[must_use]
    pub fn most(&self) -> usize {
        tensors::most(self.bytes.len()).min(self.count.into())
    }

    /// Decodes the tensors into the front of `out`; returns how many. If they are fewer than [`TensorBatch::count`], the others
    /// are not such.
    #[must_use]
    pub fn decode(&self, out: &mut [Tensor]) -> usize {
        tensors::decode(self.bytes, self.period, self.count, out)
    }
}

/// Layer values of [`GraphCall::layer`].
pub mod layer {
    /// The whole graph, given to the backend scheduler (`ggml_backend_sched_graph_compute_async`).
    pub const SCHEDULER: u8 = 0;
    /// A split of it, computed by one backend (`ggml_graph_compute` for the CPU).
    pub const BACKEND: u8 = 1;
}

/// The context with which a computation of a graph began. It precedes its [`GraphCall`]. Graphs without a rotary embedding, and
/// graphs whose topology was not read, have no such record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Number of the graph call.
    pub graph: u32,
    /// Position of the batch's first token: how many tokens its sequence had in the context before.
    pub n_past: u32,
}

/// One finished computation of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphCall {
    /// Number of the call in the session, from 1.
    pub id: u32,
    /// Topology, 0 when the topology was not read (level off, or layer scheduler).
    pub topology: u32,
    /// Process.
    pub pid: u32,
    /// Calling thread.
    pub tid: u32,
    /// See [`layer`].
    pub layer: u8,
    /// Text id of the backend's name, for example `CPU`; 0 for the scheduler.
    pub backend: u32,
    /// Nodes in the graph.
    pub n_nodes: u32,
    /// Tokens in the graph's batch (`ne[1]` of its first node), 0 when it could not be read.
    pub n_tokens: u32,
    /// Number of the token call around it on the same thread, 0 when none was seen.
    pub decode: u32,
    /// Number of the scheduler-layer call around it on the same thread, 0 when none was seen.
    pub parent: u32,
    /// Entry, ns.
    pub start_ns: u64,
    /// Length of the call, ns.
    pub duration_ns: u64,
}
