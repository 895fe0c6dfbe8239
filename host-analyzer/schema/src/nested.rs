//! `nested_calls`: calls of a backend inside operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// The calls of one function in all operators of one type in one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NestedCalls {
    /// Phase.
    pub phase: Phase,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// As the engine describes it.
    pub desc: String,
    /// Backend that computes the operator.
    pub op_backend: String,
    /// Symbol of the function.
    pub function: String,
    /// The function's backend.
    pub backend: String,
    /// Calls.
    pub calls: u64,
    /// Sum of their lengths, ns.
    pub time_ns: u64,
    /// Time for which at least one call was running, ns.
    pub wall_ns: u64,
    /// Executions of operators that made such calls and were seen themselves.
    pub executions: u64,
    /// Their wall time, ns.
    pub op_wall_ns: u64,
    /// `wall_ns` of those by `op_wall_ns`, 0 to 1; `null` when none of the operators was seen.
    pub share: Option<f64>,
}
