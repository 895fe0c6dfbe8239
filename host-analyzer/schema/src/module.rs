//! `work.modules` and `work.layers`: sums over parts of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::work::Accuracy;

/// A part of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Module {
    /// Embedding lookup.
    Embedding,
    /// Queries, keys, values, the KV cache, and the attention itself.
    Attention,
    /// What a layer has in the place of attention: a state space, a short convolution, linear attention.
    Recurrent,
    /// Feed-forward network of a layer without routers.
    Ffn,
    /// Expert selection.
    Router,
    /// Experts, including shared ones.
    Experts,
    /// Normalizations.
    Norm,
    /// From the last layer to the logits.
    Head,
    /// None of these, according to names and topology.
    #[default]
    Other,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Sums over one module in one phase, over all contexts and backends.
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
    /// Wall time (first start to last end over the threads), summed over executions, ns.
    pub wall_ns: u64,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Barrier wait, summed over threads and executions, ns; `null` if operator ends were not
    /// captured.
    pub wait_ns: Option<u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes of weights read.
    pub weight_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Arithmetic operations; a multiply-add counts as two.
    pub operations: u64,
    /// Accuracy of bytes and operations.
    pub accuracy: Accuracy,
    /// Share of the operator wall time of the phase, 0 to 1. Under a filter: share of the graph
    /// time.
    pub share: f64,
}

/// Sums over one layer in one phase, over all contexts and backends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerSum {
    /// Phase.
    pub phase: Phase,
    /// Layer, from 0; `null` outside of the layers.
    pub layer: Option<u32>,
    /// Executions.
    pub executions: u64,
    /// Wall time (first start to last end over the threads), summed over executions, ns.
    pub wall_ns: u64,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Barrier wait, summed over threads and executions, ns; `null` if operator ends were not
    /// captured.
    pub wait_ns: Option<u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes of weights read.
    pub weight_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Arithmetic operations; a multiply-add counts as two.
    pub operations: u64,
    /// Accuracy of bytes and operations.
    pub accuracy: Accuracy,
    /// Share of the operator wall time of the phase, 0 to 1. Under a filter: share of the graph
    /// time.
    pub share: f64,
}
