//! `nested_calls`: backend functions called inside operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Calls of one backend function inside the operators of one type, for example `ggml_cl_mul_mat` of
/// CLBlast inside `MUL_MAT` on the CPU. A function that another listed function calls counts in
/// both rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NestedCalls {
    /// Phase.
    pub phase: Phase,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// Backend that computes the operator.
    pub op_backend: String,
    /// Function symbol.
    pub function: String,
    /// Backend of the function.
    pub backend: String,
    /// Calls.
    pub calls: u64,
    /// Sum of the call durations, also over threads, ns.
    pub time_ns: u64,
    /// Time during which at least one call was running, ns.
    pub wall_ns: u64,
    /// Executions of operators around these calls, as far as they were captured.
    pub executions: u64,
    /// Wall time of these executions, calls included, ns.
    pub op_wall_ns: u64,
    /// Share of `op_wall_ns` that the calls cover, 0 to 1; `null` if no such operator was captured.
    pub share: Option<f64>,
}
