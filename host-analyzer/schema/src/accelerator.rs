//! `backends`: operators by shape, on each backend.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::ProfileJoin;
use super::work::Done;

/// Comparison of backends by operator shape (docs/accelerators.md).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accelerators {
    /// Match of each profile with the recording, in the order given.
    pub profiles: Vec<ProfileJoin>,
    /// Operators by shape, the longest first. Empty for a recording with one backend and without a
    /// profile.
    pub rows: Vec<ShapeRow>,
}

/// Operators of one shape on all backends that computed it. A row with several shapes is a group
/// that the profile cannot separate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShapeRow {
    /// The shape, or all shapes that match the kernels.
    pub shapes: Vec<Shape>,
    /// Times per backend, the longest first.
    pub backends: Vec<OnBackend>,
}

/// Times of one backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnBackend {
    /// Backend.
    pub backend: String,
    /// Executions: nodes of this shape in the backend's graphs, times the calls of these graphs.
    pub executions: u64,
    /// Host time; `null` if no operators of this backend were recorded.
    pub host: Option<OnHost>,
    /// Device time; `null` without a profile that has it.
    pub device: Option<OnDevice>,
}

/// Time on the host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnHost {
    /// The time is for submitting operators to the backend, not for computing them.
    pub host_side: bool,
    /// Traced executions.
    pub executions: u64,
    /// Wall time (first start to last end over the threads), summed over executions, ns.
    pub wall_ns: u64,
    /// Work in that time.
    pub work: Done,
}

/// Time on the device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnDevice {
    /// Number of kernels.
    pub kernels: u64,
    /// Sum of the kernel times by the device clock, ns.
    pub device_ns: u64,
    /// Work in `device_ns`; `null` if the operators of the kernels, or the number of their
    /// executions, is unknown.
    pub work: Option<Done>,
    /// Other operators ran on the device at the same time.
    pub at_once: bool,
    /// Kernels that also computed further operators. `work` counts only the first operator.
    pub fused: Vec<FusedKernels>,
}

/// Kernels that computed several operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FusedKernels {
    /// Name of the fusion, from the engine.
    pub what: String,
    /// Number of kernels.
    pub kernels: u64,
    /// Device time, ns.
    pub device_ns: u64,
}

/// An operator with its types and dimensions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// Operator.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// Types of the sources.
    pub types: Vec<String>,
    /// Type of the result.
    pub dtype: String,
    /// Elements per dimension of each source.
    pub src: Vec<[u64; 4]>,
    /// Elements per dimension of the result.
    pub ne: [u64; 4],
    /// Dimensions as a matrix product; `null` for other operators.
    pub product: Option<Product>,
}

/// A matrix product: `m` × `k` by `k` × `n`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Product {
    /// First dimension of the result: rows of the weights.
    pub m: u64,
    /// Second dimension of the result: tokens, or experts of a token.
    pub n: u64,
    /// Length of the dot products.
    pub k: u64,
    /// Product of the third and fourth dimension of the result.
    pub batch: u64,
}
