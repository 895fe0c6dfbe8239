//! What an engine's files say about themselves: where to probe, how its structs are laid out, what its
//! operators and types are called. Facts come from the target, not from tables in this code.
//!
//! Stage: before attaching. From: the ELF files that a process maps. To: [`EnginePlan`], which
//! `attach` turns into probes and `lower` uses to read tensors. Promises: never panics on any
//! bytes, never guesses: what could not be found is in [`EnginePlan::missing`] with the reason.

mod arm64;
mod backend;
mod backend_function;
mod body;
mod calls;
mod cheap;
mod code;
mod describe;
mod dispatch;
pub mod elf;
mod entry;
mod examine;
mod frames;
mod layout;
mod messages;
mod nameless;
mod names;
mod note;
mod operators;
mod paths;
mod references;
mod relocs;
pub mod returned;
mod strategy;
mod structure;
mod switch;
mod tables;
mod trace;
mod uid;
mod version;
#[cfg_attr(all(feature = "static", target_arch = "aarch64"), path = "x86_left_out.rs")]
mod x86;

pub use describe::describe;
pub use examine::{examine, is_engine_part, library_event_site, unnamed_functions};
pub use strategy::{LEVELS, Strategy, strategies};

use profinfer_wire::record::control::level;

use crate::backend_function::{FUNCTIONS, Function};

/// Where a probe goes and what it marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Entry and return of `llama_decode`.
    LlamaDecode,
    /// Entry and return of `llama_process`.
    LlamaProcess,
    /// Entry and return of `llama_encode`.
    LlamaEncode,
    /// Entry and return of `ggml_backend_sched_graph_compute_async` (of old builds: `…_sched_graph_compute`).
    SchedulerGraph,
    /// Entry and return of `ggml_graph_compute`.
    CpuGraph,
    /// Entry of `ggml_backend_graph_compute_async`, or the scheduler's call of a backend's own where that was inlined.
    BackendGraph,
    /// A `call` instruction with `(params, tensor)` in the argument registers: an operator starts.
    OpStart,
    /// A `call` to a fused kernel with `(params, first, last)` in the argument registers.
    OpFused,
    /// An instruction that every operator reaches when its work is done.
    OpEnd,
    /// Entry and return of `ggml_compute_forward(params, tensor)` where it is a function of its own: start and end.
    OpFunction,
    /// Entry and return of a backend's function that is one whole operator of the backend's part of a graph; its place in
    /// [`FUNCTIONS`] tells which, and which argument is the tensor.
    BackendOp(u8),
    /// The same of a function that works inside operators.
    NestedCall(u8),
}

impl Mark {
    /// Level that the mark serves.
    #[must_use]
    pub const fn level(self) -> u32 {
        match self {
            Self::LlamaDecode | Self::LlamaProcess | Self::LlamaEncode => level::TOKEN,
            Self::SchedulerGraph | Self::CpuGraph | Self::BackendGraph => level::GRAPH,
            Self::OpStart | Self::OpFused | Self::OpEnd | Self::OpFunction => level::OP,
            Self::BackendOp(_) | Self::NestedCall(_) => level::OP,
        }
    }

    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaDecode | Self::LlamaProcess | Self::LlamaEncode => "token call",
            Self::SchedulerGraph => "scheduler graph",
            Self::CpuGraph => "CPU graph",
            Self::BackendGraph => "backend graph",
            Self::OpStart => "operator start",
            Self::OpFused => "fused operator start",
            Self::OpEnd => "operator end",
            Self::OpFunction => "operator function",
            Self::BackendOp(_) => "backend operator",
            Self::NestedCall(_) => "inner call",
        }
    }

    /// The function of a backend other than the CPU that the mark is for.
    #[must_use]
    pub fn backend_function(self) -> Option<&'static Function> {
        match self {
            Self::BackendOp(slot) | Self::NestedCall(slot) => FUNCTIONS.get(usize::from(slot)),
            _ => None,
        }
    }

    /// Whether the return is probed as well as the entry.
    #[must_use]
    pub const fn has_return(self) -> bool {
        !matches!(self, Self::OpStart | Self::OpFused | Self::OpEnd | Self::BackendGraph)
    }
}

/// One instruction to probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// What it marks.
    pub mark: Mark,
    /// Index of the file in the slice given to [`examine`].
    pub file: usize,
    /// File offset of the instruction. For marks with a return it lies where the stack pointer and (on arm64) the link
    /// register still are as at entry, so that a uretprobe works there too; see `entry`.
    pub offset: u64,
    /// Symbol that led there.
    pub symbol: String,
    /// How it was found, and whether the kernel emulates the instruction (cheap) or single-steps it (dear).
    pub note: String,
}

/// Something that was looked for in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The mark.
    pub mark: Mark,
    /// Symbol looked for.
    pub symbol: String,
    /// Why not, in words a user can act on.
    pub reason: String,
}

impl Missing {
    /// What was looked for, and why not.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("{}: {}", self.symbol, self.reason)
    }
}

/// Offsets in bytes of the fields that are read from the engine's memory. Field names are the engine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "names of the engine's own fields")]
pub struct Layout {
    pub tensor_size: u32,
    pub tensor_type: u32,
    pub tensor_buffer: u32,
    pub tensor_ne: u32,
    pub tensor_nb: u32,
    pub tensor_op: u32,
    pub tensor_op_params: u32,
    pub tensor_flags: u32,
    pub tensor_src: u32,
    pub tensor_view_src: u32,
    pub tensor_data: u32,
    pub tensor_name: u32,
    pub graph_n_nodes: u32,
    pub graph_nodes: u32,
    /// Offset of `ggml_cgraph::uid`, where the engine has it: equal non-zero values mean equal graphs.
    pub graph_uid: Option<u32>,
    pub params_ith: u32,
    /// Old builds run every node in three phases, told apart by the first field: only 1 (COMPUTE) is work.
    pub params_phase: bool,
}

/// Where one offset of a [`Layout`] comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    /// The engine's name of the field.
    pub field: &'static str,
    /// Its offset in bytes (of `size`: the struct's size).
    pub offset: u32,
    /// The accessor that shows it, or the releases that it is taken from.
    pub how: String,
}

/// One tensor element type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// Name, for example `q4_K`; empty for a number that the engine no longer uses.
    pub name: String,
    /// Elements per block.
    pub block_elements: u32,
    /// Bytes per block.
    pub block_bytes: u32,
}

/// Names from the engine's own tables, indexed by the engine's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// `ggml_op`.
    pub ops: Vec<String>,
    /// `ggml_unary_op`, for operator `UNARY` (number in the first op parameter).
    pub unary: Vec<String>,
    /// `ggml_glu_op`, for operator `GLU`.
    pub glu: Vec<String>,
    /// `ggml_type`.
    pub types: Vec<DataType>,
}

/// What was found in one file, in words, empty when it is no part of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFindings {
    /// For example `token, graph` or `CPU operators`.
    pub role: String,
    /// GNU build id.
    pub build_id: Vec<u8>,
}

/// Everything needed to trace an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnginePlan {
    /// Where to probe.
    pub sites: Vec<Site>,
    /// What could not be found.
    pub missing: Vec<Missing>,
    /// Struct offsets; without them neither structure nor operators can be read.
    pub layout: Option<Layout>,
    /// How the layout was obtained, or why not.
    pub layout_note: String,
    /// Where each of its offsets comes from.
    pub offsets: Vec<Offset>,
    /// Names.
    pub tables: Tables,
    /// Version that the engine exports or carries; empty when none was found.
    pub version: String,
    /// Per file, in the order given.
    pub files: Vec<FileFindings>,
}
