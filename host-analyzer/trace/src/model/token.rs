//! Decode calls.

use super::rows::rows;
use super::thread::ThreadId;

/// Position in [`LlamaCalls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LlamaCallId(pub u32);

/// The function that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecodeFunction {
    /// `llama_decode`.
    LlamaDecode,
    /// `llama_process`.
    LlamaProcess,
    /// `llama_encode`.
    LlamaEncode,
    /// None: an outermost graph of a process whose program has no token level, such as whisper.cpp, or
    /// an engine without symbols.
    Graph,
    /// One that this build does not know.
    Unknown,
}

impl DecodeFunction {
    /// Name of the function.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaDecode => "llama_decode",
            Self::LlamaProcess => "llama_process",
            Self::LlamaEncode => "llama_encode",
            Self::Graph => "graph",
            Self::Unknown => "unknown",
        }
    }
}

/// Columns, one row per call, by start time.
#[derive(Debug, Default, Clone)]
pub struct LlamaCalls {
    /// Entry, ns.
    pub start_ns: Vec<u64>,
    /// Length, ns. If the engine then waits for backends that compute on their own, until the end of that
    /// wait: llama.cpp's own times (`llama_perf_context`) end there, too.
    pub duration_ns: Vec<u64>,
    /// Function.
    pub function: Vec<DecodeFunction>,
    /// Calling thread.
    pub thread: Vec<ThreadId>,
    /// Address of the context. Of [`DecodeFunction::Graph`]: of the table of the tokens' embeddings, so
    /// that each model has its own; 0 for graphs that take no tokens.
    pub context: Vec<u64>,
    /// Tokens in the batch: those of the scheduler graphs inside. If there are none or some may be
    /// missing, the agent's value for the call. 0 when unknown.
    pub n_tokens: Vec<u32>,
    /// Return value; 0 is success.
    pub status: Vec<i32>,
}

rows!(LlamaCalls, start_ns);
