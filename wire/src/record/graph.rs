//! Graph level: topologies, each sent once, and calls.

use serde::{Deserialize, Serialize};

use crate::batch::{Batch, Each};
pub use crate::tensor::{MAX_SRC, Role, Tensor};
use crate::tensors;

/// Head of a graph's topology. Its tensors follow in [`Tensors`] parts: first the nodes
/// `0..n_nodes` in the engine's order, then the leafs (tensors that nodes read and that no node
/// computes).
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
    /// Number of tensors.
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

/// As [`Tensors`], coded as in [`crate::tensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorBatch<'a> {
    /// The topology.
    pub topology: u32,
    /// Index of the first tensor in this part.
    pub first: u32,
    /// Number of tensors.
    pub count: u16,
    /// Number of nodes after which the topology repeats, from 1.
    pub period: u16,
    /// The tensors.
    #[serde(serialize_with = "super::as_bytes")]
    pub bytes: &'a [u8],
}

impl TensorBatch<'_> {
    /// Upper bound of the number of tensors, at most the announced number: decoding needs space for
    /// this many.
    #[must_use]
    pub fn most(&self) -> usize {
        tensors::most(self.bytes.len()).min(self.count.into())
    }

    /// Decodes the tensors into the front of `out` and returns their number. If it is below
    /// [`TensorBatch::count`], the rest is invalid.
    #[must_use]
    pub fn decode(&self, out: &mut [Tensor]) -> usize {
        tensors::decode(self.bytes, self.period, self.count, out)
    }
}

/// Layer values of [`GraphCall::layer`].
pub mod layer {
    /// The complete graph, given to the backend scheduler
    /// (`ggml_backend_sched_graph_compute_async`).
    pub const SCHEDULER: u8 = 0;
    /// A split of it, computed by one backend (`ggml_graph_compute` for the CPU).
    pub const BACKEND: u8 = 1;
}

/// The context length at which a computation of a graph began. It precedes its [`GraphCall`].
/// Absent for graphs without a rotary embedding and for graphs whose topology was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Number of the graph call.
    pub graph: u32,
    /// Position of the batch's first token: the number of tokens of its sequence that were already
    /// in the context.
    pub n_past: u32,
}

/// One finished computation of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphCall {
    /// Number of the call in the session, from 1.
    pub id: u32,
    /// Topology; 0 when it was not read (level off, or layer scheduler).
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
    /// Tokens in the graph's batch (`ne[1]` of its first node); 0 when it could not be read.
    pub n_tokens: u32,
    /// Number of the decode call around it on the same thread; 0 when none was seen.
    pub decode: u32,
    /// Number of the scheduler-layer call around it on the same thread; 0 when none was seen.
    pub parent: u32,
    /// Entry, ns.
    pub start_ns: u64,
    /// Length of the call, ns.
    pub duration_ns: u64,
}
