//! One tensor of a topology, in every coding.

use serde::{Deserialize, Serialize};

use crate::batch::{Packed, take_postcard};

/// Most sources a tensor has: the engine's `GGML_MAX_SRC`.
pub const MAX_SRC: usize = 10;

/// The role of a tensor in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Computed by the graph.
    Node,
    /// A weight of the model.
    Weight,
    /// The KV cache or another state that outlives the graph.
    Cache,
    /// Set by the engine before the graph runs: tokens, positions, masks.
    Input,
    /// A leaf that is none of these, according to its name and flags.
    Other,
}

/// One tensor of a topology. Text fields are ids of [`crate::record::session::Text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Tensor name.
    pub name: u32,
    /// Operator as named in the engine's table, for example `MUL_MAT`; `NONE` for leafs.
    pub op: u32,
    /// Operator as described by the engine: for `UNARY` and `GLU` the function (`SILU`, `SWIGLU`).
    pub desc: u32,
    /// Element type, for example `q4_K`.
    pub dtype: u32,
    /// Its role in the graph.
    pub role: Role,
    /// Elements per dimension, the fastest first.
    pub ne: [u64; 4],
    /// Size of the tensor's elements in bytes, from its type's block size; 0 when the type is
    /// unknown.
    pub bytes: u64,
    /// Address of the tensor's struct in the engine.
    pub address: u64,
    /// Address of its data; 0 when unset.
    pub data: u64,
    /// Index of the tensor that it is a view of, plus 1; 0 when none.
    pub view_of: u32,
    /// Index of each source plus 1, in the engine's order; 0 for an empty slot.
    pub src: [u32; MAX_SRC],
}

impl Packed for Tensor {
    fn unpack(buf: &mut &[u8]) -> Option<Self> {
        take_postcard(buf)
    }
}
