//! Token level: decode calls (`llama_decode`, `llama_process`, `llama_encode`).

use serde::{Deserialize, Serialize};

/// Function values of [`Decode::function`].
pub mod function {
    /// `llama_decode`.
    pub const LLAMA_DECODE: u8 = 0;
    /// `llama_process` (llama.cpp 0.6.0 and later).
    pub const LLAMA_PROCESS: u8 = 1;
    /// `llama_encode`.
    pub const LLAMA_ENCODE: u8 = 2;
}

/// One finished decode call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decode {
    /// Number of the call in the session, from 1.
    pub id: u32,
    /// Calling process.
    pub pid: u32,
    /// Calling thread.
    pub tid: u32,
    /// Which function, see [`function`].
    pub function: u8,
    /// Address of the `llama_context`. It distinguishes a draft model from its target.
    pub context: u64,
    /// Entry, ns.
    pub start_ns: u64,
    /// Length of the call, ns.
    pub duration_ns: u64,
    /// Tokens in the batch, if the argument could be read; otherwise the graph gives the number.
    pub n_tokens: Option<u32>,
    /// Return value of the call; 0 is success.
    pub status: i32,
}

/// Outputs of a decode call were taken: the engine read logits or embeddings, or tokens that a backend sampled.
/// Comes once per call, after its [`Decode`], if there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Number of the decode call.
    pub decode: u32,
    /// Number of outputs, at most 65; all of them at once count as one.
    pub outputs: u32,
}
