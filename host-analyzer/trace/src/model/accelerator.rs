//! Profiles of kernels by an accelerator's own profiler.
//!
//! They are not in the stream: `--accelerator-profile` reads them from a file of the engine. Times
//! here are durations by the device's clock, which shares no zero with the session's.

/// The backend that wrote a profile, and its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileFormat {
    /// `cl_profiling.csv` of llama.cpp's OpenCL backend, built with `GGML_OPENCL_PROFILING`.
    OpenClTable,
    /// `cl_trace.json` of the same backend.
    OpenClTrace,
    /// Log of llama.cpp's Vulkan backend with `GGML_VK_PERF_LOGGER`.
    VulkanLog,
    /// Log of llama.cpp's Hexagon backend with `GGML_HEXAGON_PROFILE`.
    HexagonLog,
}

impl ProfileFormat {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenClTable => "opencl_table",
            Self::OpenClTrace => "opencl_trace",
            Self::VulkanLog => "vulkan_log",
            Self::HexagonLog => "hexagon_log",
        }
    }

    /// The backend that writes it, named as in recordings.
    #[must_use]
    pub const fn backend(self) -> &'static str {
        match self {
            Self::OpenClTable | Self::OpenClTrace => "OpenCL",
            Self::VulkanLog => "Vulkan",
            Self::HexagonLog => "Hexagon",
        }
    }

    /// It names the tensor that each kernel computed.
    #[must_use]
    pub const fn names_tensors(self) -> bool {
        matches!(self, Self::OpenClTable | Self::HexagonLog)
    }
}

/// The shape of an operator in a profile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KernelDims {
    /// Unknown.
    Untold,
    /// A matrix product: rows and columns of the result, and the length of the sum.
    Product {
        /// Elements of the result's first dimension.
        m: u64,
        /// Elements of its second.
        n: u64,
        /// Length of the sum.
        k: u64,
        /// Elements of its third times fourth.
        batch: u64,
        /// Experts in the weights; `None` where unknown.
        experts: Option<u64>,
    },
    /// Elements of the result.
    Output([u64; 4]),
    /// Elements of the sources and of the result; `None` for a slot without a tensor.
    Tensors(Vec<Option<[u64; 4]>>, [u64; 4]),
}

/// One operator that a kernel computed, as far as the profile describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelPart {
    /// Operator, or the engine's name for it (`SILU` for a `UNARY`); empty when unknown.
    pub op: String,
    /// Further operators that the same kernel computed; empty when there are none, or when only
    /// [`Self::fusion`] describes them.
    pub behind: Vec<String>,
    /// The engine's name of the fusion; empty without one.
    pub fusion: String,
    /// The tensor that holds the result; empty when unknown.
    pub tensor: String,
    /// Types of the sources, and of the result where known; fewer than the sources where only some
    /// are known.
    pub types: Vec<String>,
    /// Type of the result; empty when unknown.
    pub dtype: String,
    /// Shape.
    pub dims: KernelDims,
}

/// Kernels that a profile does not distinguish.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelKind {
    /// Text in the profile.
    pub text: String,
    /// Name of the kernel's function; empty when unknown.
    pub kernel: String,
    /// Computed operators. Several: they ran at the same time, with one time for all. None: only
    /// the kernel is known.
    pub parts: Vec<KernelPart>,
}

/// A row of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelRow {
    /// Position in [`AcceleratorProfile::kinds`].
    pub kind: u32,
    /// Kernels in this row.
    pub kernels: u64,
    /// Time on the device, summed over them, ns.
    pub device_ns: u64,
}

/// Counts of what was read of a file, and what was not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileLines {
    /// Lines.
    pub read: u64,
    /// Unrelated lines, of which a log has many.
    pub other: u64,
    /// Lines that begin like a row and are not one.
    pub damaged: u64,
    /// Rows beyond the limits of what is kept.
    pub left_out: u64,
    /// Blocks without an end, or whose rows do not sum to their total.
    pub open_blocks: u64,
}

/// When the device had work, by its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTimeline {
    /// First start to last end of a kernel, ns; in steps of 1 µs.
    pub span_ns: u64,
    /// From the host's call to the submission to the device, summed over kernels, ns; in steps of 1
    /// µs.
    pub queued_ns: u64,
}

/// One profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceleratorProfile {
    /// The file.
    pub name: String,
    /// Format.
    pub format: ProfileFormat,
    /// Kinds of kernels, by first row.
    pub kinds: Vec<KernelKind>,
    /// In the order of the file. Where the format does not name tensors, all rows of a kind are one
    /// row.
    pub rows: Vec<KernelRow>,
    /// What was read.
    pub lines: ProfileLines,
    /// From the trace of the same kernels.
    pub timeline: Option<DeviceTimeline>,
}

impl AcceleratorProfile {
    /// Kernels and their time on the device, ns.
    #[must_use]
    pub fn total(&self) -> (u64, u64) {
        self.rows.iter().fold((0, 0), |(kernels, ns), row| {
            (row.kernels.saturating_add(kernels), row.device_ns.saturating_add(ns))
        })
    }
}
