//! `backends.profiles`: profiles written by accelerator backends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of one accelerator profile matches the recording. `joined`, `grouped` and `unjoined`
/// sum to `kernels` and `device_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileJoin {
    /// File name.
    pub name: String,
    /// File format.
    pub format: ProfileFormat,
    /// Backend of the recording that the profile was joined with; `null` if the recording has no
    /// such backend.
    pub backend: Option<String>,
    /// Number of kernels.
    pub kernels: u64,
    /// Device time of all kernels, ns.
    pub device_ns: u64,
    /// Kernels that match exactly one shape.
    pub joined: KernelPart,
    /// Kernels that match several shapes and cannot be assigned to one of them.
    pub grouped: KernelPart,
    /// Kernels that match no node of the recording.
    pub unjoined: KernelPart,
    /// Share of the device time that is joined or grouped, 0 to 1.
    pub share: f64,
    /// Kernels that were not joined, by text, the longest first; at most 20.
    pub unjoined_kinds: Vec<Unjoined>,
    /// Executions and kernels per operator of the backend, most executions first.
    pub operators: Vec<Balance>,
    /// Kernels that fused operators which the profile does not name.
    pub unread_fusions: u64,
    /// Lines in the file.
    pub lines: u64,
    /// Lines that are not part of the profile.
    pub other_lines: u64,
    /// Lines that are truncated or mixed with another line.
    pub damaged_lines: u64,
    /// Rows beyond the limit, which are not kept.
    pub left_out_rows: u64,
    /// Incomplete blocks of a log.
    pub open_blocks: u64,
    /// Time from the first kernel start to the last kernel end on the device, ns; `null` without
    /// the trace.
    pub span_ns: Option<u64>,
    /// Time from the host's call to the submission, summed over kernels, ns; `null` without the
    /// trace.
    pub queued_ns: Option<u64>,
}

/// Number and device time of some kernels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelPart {
    /// Number of kernels.
    pub kernels: u64,
    /// Device time, ns.
    pub device_ns: u64,
}

/// Kernels of one kind that match no node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unjoined {
    /// Text in the profile.
    pub text: String,
    /// Reason.
    pub why: UnjoinedWhy,
    /// Number of kernels.
    pub kernels: u64,
    /// Device time, ns.
    pub device_ns: u64,
}

/// Why a kernel has no node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnjoinedWhy {
    /// The recording has no graph of that backend.
    NoBackend,
    /// The profile does not record what the kernel computed.
    NotRecorded,
    /// No node of the backend has this name, operator or shape.
    NoNode,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Executions and kernels of one operator of a backend. For a `vulkan_log`: `executions` + `beyond`
/// = `kernels` + `fused` + `without`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// Operator.
    pub op: String,
    /// Executions in the recording: nodes of the graphs times the calls of the graphs.
    pub executions: u64,
    /// Kernels that computed this operator alone, or as the first of a fusion.
    pub kernels: u64,
    /// Kernels that computed this operator as a later part of a fusion, according to the name of
    /// the fusion or the row.
    pub fused: u64,
    /// Executions without a kernel. For formats with tensor names: executions of nodes whose name
    /// no kernel has.
    pub without: u64,
    /// Kernels without an execution; 0 for formats in which a node may have several kernels.
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
