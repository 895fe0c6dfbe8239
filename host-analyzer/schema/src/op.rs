//! `op_types` and `operators`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bound::Bound;
use super::estimate::TypeEstimate;
use super::module::Module;
use super::phase::Phase;
use super::work::Done;

/// All operators of one type in one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpType {
    /// Phase.
    pub phase: Phase,
    /// Backend that computed them.
    pub backend: String,
    /// The backend starts the operator and does not wait for it: the times are those of handing it
    /// over, and its kernels run later.
    pub host_side: bool,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// As the engine describes it, for example `SILU` for a `UNARY`.
    pub desc: String,
    /// Executions.
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Median of the wall time of one execution, ns.
    pub median_ns: Option<u64>,
    /// What its own probe puts into an execution's time is more than a tenth of that median.
    pub biased: bool,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns; `null` without the ends of
    /// operators, where it is a part of the work.
    pub wait_ns: Option<u64>,
    /// Part of the operator wall time of the phase on this backend, 0 to 1; of the time of its
    /// graphs where a filter left out operators.
    pub share: f64,
    /// What the traced calls say of all calls; `null` where all calls were traced.
    pub estimate: Option<TypeEstimate>,
    /// What they did.
    pub work: Done,
}

/// One operator of a graph: all its executions in one phase of one context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operator {
    /// Phase.
    pub phase: Phase,
    /// Backend that computed it.
    pub backend: String,
    /// Process.
    pub pid: u32,
    /// Address of the context in hex; `null` when there was no token call around.
    pub context: Option<String>,
    /// Tensor name.
    pub name: String,
    /// Operator.
    pub op: String,
    /// As the engine describes it.
    pub desc: String,
    /// Which of the nodes of this name and operator it is, in the graph's order, from 1.
    pub nth: u32,
    /// Element type.
    pub dtype: String,
    /// Elements per dimension in the latest graph.
    pub ne: [u64; 4],
    /// Sources in the latest graph.
    pub src: Vec<Source>,
    /// Executions.
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Median of the wall time of one execution, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile of the same, ns.
    pub p95_ns: Option<u64>,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns; `null` without the ends of
    /// operators, where it is a part of the work.
    pub wait_ns: Option<u64>,
    /// Part of the operator wall time of the phase on this backend, 0 to 1; of the time of its
    /// graphs where a filter left out operators.
    pub share: f64,
    /// Name of the last tensor that the same kernel computed too; `null` when not fused.
    pub fused: Option<String>,
    /// The part of the model that it belongs to.
    pub module: Module,
    /// Its layer, from 0; `null` outside of the layers.
    pub layer: Option<u32>,
    /// What it did.
    pub work: Done,
    /// What bounds it.
    pub bound: Bound,
}

/// A tensor that an operator reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Tensor name.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Elements per dimension.
    pub ne: [u64; 4],
    /// What it is: `node`, `weight`, `cache`, `input` or `other`.
    pub role: String,
}
