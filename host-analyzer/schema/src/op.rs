//! `op_types` and `operators`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bound::Bound;
use super::estimate::TypeEstimate;
use super::module::Module;
use super::phase::Phase;
use super::work::Done;

/// All operators of one type in one phase. Backends other than the CPU appear if one function of
/// the backend computes one operator (OpenCL, RKNN).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpType {
    /// Phase.
    pub phase: Phase,
    /// Backend that computed them.
    pub backend: String,
    /// The backend starts the operator and does not wait for it (OpenCL). Times are for submitting
    /// operators; the kernels run later. There is no barrier wait.
    pub host_side: bool,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Operator description from the engine, for example `SILU` for a `UNARY`.
    pub desc: String,
    /// Number of executions. An execution is one operator in one graph call, over all threads that
    /// took part.
    pub executions: u64,
    /// Wall time (first start to last end over the threads), summed over executions, ns.
    pub wall_ns: u64,
    /// Median wall time of one execution, ns.
    pub median_ns: Option<u64>,
    /// The probe accounts for more than a tenth of `median_ns` (`cost.probe_inside_ns`).
    pub biased: bool,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Barrier wait after the operator, summed over threads and executions, ns; `null` if operator
    /// ends were not captured. `work_ns` then includes it.
    pub wait_ns: Option<u64>,
    /// Share of the operator wall time of the phase on this backend, 0 to 1. Under a filter: share
    /// of the graph time.
    pub share: f64,
    /// Estimates for all calls, from the traced ones; `null` if all calls were traced.
    pub estimate: Option<TypeEstimate>,
    /// Bytes and operations, summed over executions.
    pub work: Done,
}

/// One operator of a graph: all its executions in one phase of one context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operator {
    /// Phase.
    pub phase: Phase,
    /// Backend that computed it.
    pub backend: String,
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex; `null` outside of `llama_decode` calls.
    pub context: Option<String>,
    /// Tensor name.
    pub name: String,
    /// Operator.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// Number among the nodes with the same name, `op` and `desc` in graph order, from 1; for
    /// example the two norms of a layer.
    pub nth: u32,
    /// Element type.
    pub dtype: String,
    /// Elements per dimension in the latest graph.
    pub ne: [u64; 4],
    /// Sources in the latest graph.
    pub src: Vec<Source>,
    /// Executions.
    pub executions: u64,
    /// Wall time (first start to last end over the threads), summed over executions, ns.
    pub wall_ns: u64,
    /// Median wall time of one execution, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile of the wall time of one execution (nearest rank), ns.
    pub p95_ns: Option<u64>,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Barrier wait after the operator, summed over threads and executions, ns; `null` if operator
    /// ends were not captured. `work_ns` then includes it.
    pub wait_ns: Option<u64>,
    /// Share of the operator wall time of the phase on this backend, 0 to 1. Under a filter: share
    /// of the graph time.
    pub share: f64,
    /// Name of the last tensor that the same kernel also computed; `null` if not fused.
    pub fused: Option<String>,
    /// Module of the model.
    pub module: Module,
    /// Layer, from 0; `null` outside of the layers.
    pub layer: Option<u32>,
    /// Bytes and operations, summed over executions.
    pub work: Done,
    /// What limits its speed.
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
    /// Role: `node`, `weight`, `cache`, `input` or `other`.
    pub role: String,
}
