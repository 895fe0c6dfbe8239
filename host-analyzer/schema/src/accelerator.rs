//! `backends`: operators by shape, on each backend.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::ProfileJoin;
use super::work::Done;

/// Backends side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accelerators {
    /// How far each profile fits the recording, in the order in which they were named.
    pub profiles: Vec<ProfileJoin>,
    /// Operators by shape, the longest first. Empty of a recording of one backend without a
    /// profile.
    pub rows: Vec<ShapeRow>,
}

/// Operators of one shape on all backends that computed it; of several shapes where a profile does
/// not tell them apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShapeRow {
    /// The shape, or all shapes that the kernels fit.
    pub shapes: Vec<Shape>,
    /// Who computed it, the longest first.
    pub backends: Vec<OnBackend>,
}

/// What one backend took for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnBackend {
    /// Backend.
    pub backend: String,
    /// Executions: nodes of such a shape in the graphs that the backend computed, times their
    /// calls.
    pub executions: u64,
    /// On the host; `null` where the recording has no operators of the backend.
    pub host: Option<OnHost>,
    /// On the device; `null` without a profile that tells it.
    pub device: Option<OnDevice>,
}

/// Time on the host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnHost {
    /// It is the time of handing operators over to the backend, not of computing them.
    pub host_side: bool,
    /// Executions that were traced.
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// What was done in that time.
    pub work: Done,
}

/// Time on the device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnDevice {
    /// Kernels.
    pub kernels: u64,
    /// Their time by the device's clock, summed, ns.
    pub device_ns: u64,
    /// What was done in that time; `null` where it is not known what these kernels computed, or not
    /// of how many executions they are.
    pub work: Option<Done>,
    /// Other operators ran on the device in the same time.
    pub at_once: bool,
    /// Of them, kernels that computed further operators; their work counts the first one only.
    pub fused: Vec<FusedKernels>,
}

/// Kernels that computed several operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FusedKernels {
    /// What, in the engine's words.
    pub what: String,
    /// Kernels.
    pub kernels: u64,
    /// Their time on the device, ns.
    pub device_ns: u64,
}

/// An operator with types and dimensions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// Operator.
    pub op: String,
    /// As the engine describes it.
    pub desc: String,
    /// Types of the sources.
    pub types: Vec<String>,
    /// Type of the result.
    pub dtype: String,
    /// Elements per dimension of the sources.
    pub src: Vec<[u64; 4]>,
    /// Elements per dimension of the result.
    pub ne: [u64; 4],
    /// Of a matrix product, what it is in the usual letters.
    pub product: Option<Product>,
}

/// A matrix product: `m` × `k` by `k` × `n`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Product {
    /// Elements of the result's first dimension: rows of the weights.
    pub m: u64,
    /// Elements of its second: tokens, or experts of a token.
    pub n: u64,
    /// Length of the sum.
    pub k: u64,
    /// Elements of its third times fourth.
    pub batch: u64,
}
