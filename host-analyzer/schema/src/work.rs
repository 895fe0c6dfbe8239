//! `work`: bytes, operations and ceilings.

use super::ceiling::CeilingSource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::module::{LayerSum, ModuleSum};
use super::phase::Phase;

/// Work of several executions, and its rates. Bytes and operations follow from shapes, types,
/// positions and expert selections (docs/work.md).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Bytes read, including `weight_bytes` and `cache_bytes`.
    pub read_bytes: u64,
    /// Bytes of weights read.
    pub weight_bytes: u64,
    /// Bytes read from the KV cache or another state.
    pub cache_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Arithmetic operations; a multiply-add counts as two.
    pub operations: u64,
    /// Accuracy of bytes and operations.
    pub accuracy: Accuracy,
    /// Bytes read and written per second of wall time; `null` for `host_side` backends, whose wall
    /// time is not computing time.
    pub bytes_per_s: Option<f64>,
    /// Operations per second of wall time; `null` for `host_side` backends.
    pub operations_per_s: Option<f64>,
    /// Arithmetic intensity: operations per byte read and written; `null` without bytes.
    pub intensity: Option<f64>,
}

/// Accuracy of bytes and operations. A sum has the accuracy of its least accurate part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Accuracy {
    /// Exact: computed from shapes, types, positions and selections.
    #[default]
    Counted,
    /// Upper bound: how many cells a sliding window leaves, or the position of a batch in its
    /// context, is unknown.
    AtMost,
    /// Estimate: expert selections or a tensor type did not arrive, or a batch has several sequences.
    Estimated,
    /// Lower bound: an operator has no formula, or its sources did not arrive, and counts as none; or the
    /// context has images, which have more cells than positions.
    AtLeast,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Use of memory bandwidth, and ceilings that apply to each phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Memory bandwidth that decode calls use; `null` without decode calls whose operators are
    /// known.
    pub decode: Option<Utilisation>,
    /// Ceilings per phase that has operators.
    pub roofs: Vec<Roof>,
    /// Sums per module of the model, over all contexts.
    pub modules: Vec<ModuleSum>,
    /// Sums per layer of the model, over all contexts.
    pub layers: Vec<LayerSum>,
}

/// Memory bandwidth utilisation (MBU) of the successful decode calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation {
    /// Phase of these calls.
    #[serde(default)]
    pub phase: Phase,
    /// Tokens in the traced decode calls. The other figures are for these.
    pub tokens: u64,
    /// Bytes of weights and KV cache read per token.
    pub bytes_per_token: f64,
    /// Accuracy of the bytes.
    pub accuracy: Accuracy,
    /// These bytes per second of traced decode calls.
    pub bytes_per_s: f64,
    /// Share of the read ceiling. It can exceed 1 if a cache holds the model. `null` without a
    /// ceiling for this number of threads.
    pub mbu: Option<f64>,
}

/// CPUs of one phase, and their measured ceilings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roof {
    /// Phase.
    pub phase: Phase,
    /// Largest number of threads that computed one operator.
    pub threads: u32,
    /// CPUs on which spans ended.
    pub cpus: Vec<u16>,
    /// Weights and KV cache read per call, bytes. This is the working set at which the read ceiling
    /// is taken. `null` if no operators of calls are known.
    pub reads_bytes: Option<u64>,
    /// Memory read ceiling.
    pub read: Option<Top>,
    /// Ceiling of 8-bit integer products.
    pub int8: Option<Top>,
    /// Ceiling of 32-bit float multiply-add.
    pub f32: Option<Top>,
    /// Ceiling of 16-bit float multiply-add.
    pub f16: Option<Top>,
    /// Why there is no read ceiling: `not_measured`, `other_threads` (it was measured, but not with
    /// this number of threads), or the doubt about its figures; `null` if there is one.
    pub no_read: Option<String>,
    /// The best known limits: the ceilings above, else what stands in for them.
    pub limits: Option<Limits>,
}

/// The best known limits of a phase. The source of each states what it is: a profile's bandwidth is
/// that of any number of threads, the best rate seen is a lower bound. No bound or finding uses
/// these two as a ceiling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Reading memory.
    pub read: Option<Top>,
    /// 8-bit integer products.
    pub int8: Option<Top>,
    /// 32-bit float multiply-add.
    pub f32: Option<Top>,
    /// 16-bit float multiply-add.
    pub f16: Option<Top>,
}

/// A ceiling that applies to a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Top {
    /// Bytes or operations per second: median of the repetitions.
    pub per_s: u64,
    /// Measured on exactly the CPUs of the phase, not only on the same number of CPUs.
    pub same_cpus: bool,
    /// Working set of a read ceiling: `reads_bytes` if the curve covers it, otherwise the nearest
    /// end of the curve. `null` for other kinds, and for older agents.
    pub working_set_bytes: Option<u64>,
    /// A call reads more than the largest measured working set.
    pub beyond: bool,
    /// Smallest repetition, or the profile's smallest figure.
    pub low: Option<u64>,
    /// Largest repetition, or the profile's theoretical bandwidth; `null` where it is unknown how
    /// much higher the ceiling is.
    pub high: Option<u64>,
    /// Other programs used more than a tenth of a CPU during the measurement, so it may be too low.
    pub polluted: Option<bool>,
    /// Where it comes from; absent in the output of older versions.
    pub source: Option<CeilingSource>,
    /// Of a `kept` ceiling, when that session began: ns since 1970.
    pub kept_unix_ns: Option<u64>,
}
