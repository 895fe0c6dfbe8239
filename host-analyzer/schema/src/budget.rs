//! `budget`: where the time of each token went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Budget of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// The classes in words, in the same order as `classes`.
    pub names: Vec<String>,
    /// The scheduler level was recorded: without it no time is told to be preempted, throttled,
    /// interrupted or blocked.
    pub scheduler: bool,
    /// Names of the classes, in the order of the columns of every time by class.
    pub classes: Vec<String>,
    /// Per phase that has calls.
    pub phases: Vec<PhaseBudget>,
    /// Per successful token call, by process and end.
    pub tokens: Vec<TokenBudget>,
}

/// Budget of the calls of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseBudget {
    /// Phase.
    pub phase: Phase,
    /// Token calls that the figures are of: those that were traced whole, or all where none was.
    pub calls: u64,
    /// Token calls of the phase.
    pub all_calls: u64,
    /// Sum of their times, ns: in decode each from the end of the call before it.
    pub time_ns: u64,
    /// That time by class, along the last arrivers.
    pub wall: Vec<u64>,
    /// The work in it by type of operator, the longest first; sums to the class `work`, or
    /// `work_and_wait` without the ends of operators.
    pub work: Vec<BudgetWork>,
    /// The same time on each thread.
    pub threads: Vec<ThreadBudget>,
}

/// Work of one type of operator along the last arrivers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetWork {
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// As the engine describes it.
    pub desc: String,
    /// Time, ns.
    pub ns: u64,
}

/// One thread in the calls of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadBudget {
    /// Thread id of the kernel; `null` for all further threads of an engine that makes new ones all
    /// the time.
    pub tid: Option<u32>,
    /// It called the token calls.
    pub calls_tokens: bool,
    /// Sum of the times of the tokens in which it took part, ns.
    pub time_ns: u64,
    /// That time by class.
    pub parts: Vec<u64>,
}

/// Budget of one token call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenBudget {
    /// Row in the table of token calls.
    pub call: u32,
    /// Phase.
    pub phase: Phase,
    /// Its operators were captured whole.
    pub traced: bool,
    /// Its time begins, ns from the start of the session.
    pub start_ns: u64,
    /// Its time, ns.
    pub time_ns: u64,
    /// That time by class, along the last arrivers.
    pub wall: Vec<u64>,
}
