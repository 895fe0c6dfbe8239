//! `work.modules` and `work.layers`: parts of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::work::Accuracy;

/// A part of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Module {
    /// Rows of the embeddings, looked up by token.
    Embedding,
    /// Queries, keys, values, the KV cache, and what combines them.
    Attention,
    /// The feed-forward network of a layer without routers.
    Ffn,
    /// What selects experts.
    Router,
    /// Experts, those that always work too.
    Experts,
    /// Normalizations.
    Norm,
    /// From the last layer to the logits.
    Head,
    /// None of these, as far as names and topology tell.
    #[default]
    Other,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// What one module took in one phase, over all contexts and backends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleSum {
    /// Phase.
    pub phase: Phase,
    /// Module.
    pub module: Module,
    /// Always `null`.
    pub layer: Option<u32>,
    /// Executions.
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns; `null` without the ends of
    /// operators.
    pub wait_ns: Option<u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Of them, weights.
    pub weight_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Operations; a multiplication and an addition are two.
    pub operations: u64,
    /// How far bytes and operations can be believed.
    pub accuracy: Accuracy,
    /// Part of the operator wall time of the phase, 0 to 1; of the time of its graphs where a
    /// filter left out operators.
    pub share: f64,
}

/// What one layer took in one phase, over all contexts and backends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerSum {
    /// Phase.
    pub phase: Phase,
    /// Layer, from 0; `null` for what is in none.
    pub layer: Option<u32>,
    /// Executions.
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns; `null` without the ends of
    /// operators.
    pub wait_ns: Option<u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Of them, weights.
    pub weight_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Operations; a multiplication and an addition are two.
    pub operations: u64,
    /// How far bytes and operations can be believed.
    pub accuracy: Accuracy,
    /// Part of the operator wall time of the phase, 0 to 1; of the time of its graphs where a
    /// filter left out operators.
    pub share: f64,
}
