//! `backends.profiles`: accelerators' own profiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far one profile fits the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileJoin {
    /// The file.
    pub name: String,
    /// Its format.
    pub format: ProfileFormat,
    /// The backend of the recording whose nodes it was joined to; `null` if there is none.
    pub backend: Option<String>,
    /// Kernels.
    pub kernels: u64,
    /// Their time on the device, ns.
    pub device_ns: u64,
    /// Kernels of exactly one shape.
    pub joined: KernelPart,
    /// Kernels of one of several shapes, nobody can tell which.
    pub grouped: KernelPart,
    /// Kernels of no node of the recording.
    pub unjoined: KernelPart,
    /// Part of the time that is joined or grouped, 0 to 1.
    pub share: f64,
    /// What is not joined, the longest first; at most 20.
    pub unjoined_kinds: Vec<Unjoined>,
    /// By operator of the backend, those with most executions first.
    pub operators: Vec<Balance>,
    /// Kernels that fused operators of which the profile does not say which.
    pub unread_fusions: u64,
    /// Lines of the file.
    pub lines: u64,
    /// Lines of something else.
    pub other_lines: u64,
    /// Lines that are cut or mixed with another.
    pub damaged_lines: u64,
    /// Rows beyond what is kept.
    pub left_out_rows: u64,
    /// Blocks of a log that are not whole.
    pub open_blocks: u64,
    /// First start to last end of a kernel on the device, ns; where the trace was there.
    pub span_ns: Option<u64>,
    /// From the host's call to the submission, summed over kernels, ns; likewise.
    pub queued_ns: Option<u64>,
}

/// A part of the kernels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelPart {
    /// Kernels.
    pub kernels: u64,
    /// Their time on the device, ns.
    pub device_ns: u64,
}

/// Kernels of one kind without a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unjoined {
    /// As the profile writes it.
    pub text: String,
    /// Why.
    pub why: UnjoinedWhy,
    /// Kernels.
    pub kernels: u64,
    /// Their time on the device, ns.
    pub device_ns: u64,
}

/// Why a kernel has no node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnjoinedWhy {
    /// The recording has no graph of that backend.
    NoBackend,
    /// The profile does not say what the kernel computed.
    NotTold,
    /// No node of the backend is of such a name, operator or shape.
    NoNode,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// One operator of a backend. Of a log without names `executions + beyond = kernels + fused +
/// without`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// Operator.
    pub op: String,
    /// Executions on the backend, as the recording says: nodes of the graphs times their calls.
    pub executions: u64,
    /// Kernels that computed it first or alone.
    pub kernels: u64,
    /// Kernels that computed it behind another operator, as the name of the fusion or the row says.
    pub fused: u64,
    /// Executions without a kernel.
    pub without: u64,
    /// Kernels without an execution; 0 where a node may have several kernels.
    pub beyond: u64,
}

/// Format of an accelerator's profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProfileFormat {
    /// `cl_profiling.csv` of the OpenCL backend.
    OpenclTable,
    /// `cl_trace.json` of the OpenCL backend.
    OpenclTrace,
    /// Output of the Vulkan backend with `GGML_VK_PERF_LOGGER`.
    VulkanLog,
    /// Log of the Hexagon backend with `GGML_HEXAGON_PROFILE`.
    HexagonLog,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
