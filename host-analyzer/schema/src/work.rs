//! `work`: bytes, operations, and what the board could do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::module::{LayerSum, ModuleSum};
use super::phase::Phase;

/// Work of several executions, and what it comes to a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Bytes read.
    pub read_bytes: u64,
    /// Of them, weights.
    pub weight_bytes: u64,
    /// Of them, KV cache or another state.
    pub cache_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Operations; a multiplication and an addition are two.
    pub operations: u64,
    /// How far these can be believed.
    pub accuracy: Accuracy,
    /// Bytes read and written by wall time, bytes a second; `null` where the wall time is not that
    /// of the work.
    pub bytes_per_s: Option<f64>,
    /// Operations by wall time, a second; `null` likewise.
    pub operations_per_s: Option<f64>,
    /// Operations by bytes read and written; `null` without bytes.
    pub intensity: Option<f64>,
}

/// How far a number can be believed; the worse one holds for a sum.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Accuracy {
    /// It follows from shapes, types, positions and selections.
    #[default]
    Counted,
    /// It is at most so much: how many cells a sliding window leaves, or where a batch stands in
    /// its context, is not known.
    AtMost,
    /// The selections of the experts or the type of a tensor did not arrive, or the operator has no
    /// formula of its own.
    Estimated,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// What the phases did, on what, and what that could do at best.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Use of the memory by decode calls; `null` without decode calls whose operators are known.
    pub decode: Option<Utilisation>,
    /// A row for each phase with operators.
    pub roofs: Vec<Roof>,
    /// Sums over the operators of a module, over all contexts.
    pub modules: Vec<ModuleSum>,
    /// Sums over the operators of a layer, over all contexts.
    pub layers: Vec<LayerSum>,
}

/// Use of the memory's bandwidth by the decode calls: MBU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation {
    /// Tokens that the traced decode calls computed: the figures are of these.
    pub tokens: u64,
    /// Weights and KV cache that a token reads, bytes.
    pub bytes_per_token: f64,
    /// How far that can be believed.
    pub accuracy: Accuracy,
    /// The same bytes by the time of the traced decode calls, bytes a second.
    pub bytes_per_s: f64,
    /// Part of the read ceiling, 0 to 1, more where a cache holds the model; `null` without a
    /// ceiling for as many threads.
    pub mbu: Option<f64>,
}

/// What one phase ran on, and what that can do at best.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roof {
    /// Phase.
    pub phase: Phase,
    /// Threads of an operator, the most that any had.
    pub threads: u32,
    /// CPUs on which the spans ended.
    pub cpus: Vec<u16>,
    /// Weights and KV cache that a call reads, bytes: the working set whose read ceiling is taken.
    /// `null` without calls, whose operators would be known.
    pub reads_bytes: Option<u64>,
    /// Reading memory.
    pub read: Option<Top>,
    /// Products of 8-bit integers.
    pub int8: Option<Top>,
    /// Multiply-accumulate in 32-bit floats.
    pub f32: Option<Top>,
    /// Multiply-accumulate in 16-bit floats.
    pub f16: Option<Top>,
}

/// A ceiling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Top {
    /// Bytes or operations a second, the median of its repetitions.
    pub per_s: u64,
    /// It was measured on exactly the CPUs of the phase, not only on as many.
    pub same_cpus: bool,
    /// Of reading memory, the working set that it is of; `null` for other kinds, and in recordings
    /// of older agents.
    pub working_set_bytes: Option<u64>,
    /// A call reads more than the largest working set that was measured.
    pub beyond: bool,
}
