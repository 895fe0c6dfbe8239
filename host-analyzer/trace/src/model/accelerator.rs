//! What an accelerator's own profiler wrote of the kernels that ran there.
//!
//! It is not in the stream: `--accelerator-profile` reads it from a file of the engine's. Times here are the device's: they are
//! lengths by its own clock, which has no zero in common with the session's.

/// Who wrote a profile, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileFormat {
    /// `cl_profiling.csv` of llama.cpp's OpenCL backend, built with `GGML_OPENCL_PROFILING`.
    OpenClTable,
    /// `cl_trace.json` of the same.
    OpenClTrace,
    /// What llama.cpp's Vulkan backend prints with `GGML_VK_PERF_LOGGER`.
    VulkanLog,
    /// What llama.cpp's Hexagon backend logs with `GGML_HEXAGON_PROFILE`.
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

    /// The backend that writes it, as recordings name it.
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

/// What a profile tells of the shape of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KernelDims {
    /// Nothing.
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
        /// Experts in the weights; `None` where it is not told.
        experts: Option<u64>,
    },
    /// Elements of the result.
    Output([u64; 4]),
    /// Elements of the sources and of the result; `None` for a slot without a tensor.
    Tensors(Vec<Option<[u64; 4]>>, [u64; 4]),
}

/// One operator that a kernel computed, as far as the profile tells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelPart {
    /// Operator, or what the engine calls it (`SILU` for a `UNARY`); empty when it is not told.
    pub op: String,
    /// Operators that the same kernel computed behind it; empty when there are none, or when only [`Self::fusion`] tells of them.
    pub behind: Vec<String>,
    /// The engine's name of what was fused; empty when nothing was.
    pub fusion: String,
    /// The tensor that holds the result; empty when it is not told.
    pub tensor: String,
    /// Types of the sources, and of the result where it is told; fewer than there are sources where only some are told.
    pub types: Vec<String>,
    /// Type of the result; empty when it is not told.
    pub dtype: String,
    /// Shape.
    pub dims: KernelDims,
}

/// Kernels that a profile does not tell apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelKind {
    /// As the profile writes it.
    pub text: String,
    /// Name of the kernel's function; empty when it is not told.
    pub kernel: String,
    /// What it computed. Several ran at the same time, with one time for all; none where only the kernel is told.
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

/// What was read of a file, and what was not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileLines {
    /// Lines.
    pub read: u64,
    /// Lines of something else, of which a log has many.
    pub other: u64,
    /// Lines that begin like rows and do not go on so.
    pub damaged: u64,
    /// Rows behind the limits of what is kept.
    pub left_out: u64,
    /// Blocks whose rows do not sum to the total that they end with, or that have no end.
    pub open_blocks: u64,
}

/// When the device had what to do, by its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTimeline {
    /// First start to last end of a kernel, ns; in steps of 1 µs.
    pub span_ns: u64,
    /// From the call of the host to the submission to the device, summed over kernels, ns; in steps of 1 µs.
    pub queued_ns: u64,
}

/// One profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceleratorProfile {
    /// The file.
    pub name: String,
    /// Format.
    pub format: ProfileFormat,
    /// What ran, by first row.
    pub kinds: Vec<KernelKind>,
    /// In the order of the file. Rows of one kind are one row where the format does not name tensors.
    pub rows: Vec<KernelRow>,
    /// What was read.
    pub lines: ProfileLines,
    /// Of the trace of the same kernels.
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
