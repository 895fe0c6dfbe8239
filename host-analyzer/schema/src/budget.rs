//! `budget`: where the time of each token went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Where every nanosecond of every token went. A token lasts from the end of one `llama_decode`
/// call to the end of the next; a prefill token starts with its call. A list of times has one
/// column per name in `classes` and sums to the `time_ns` next to it. `wall` follows the last
/// thread to arrive at each barrier, because a delay of any other thread costs nothing. `parts` is
/// the time of one thread.
///
/// The classes:
///
/// * `work`: computing operators; `work_and_wait`: operators including the waits after them, if
///   operator ends were not captured.
/// * `wait_preempted`, `wait_throttled`, `wait_interrupted`, `wait_blocked`: waiting at the barrier
///   because the last thread was preempted, had no CPU although one was idle (quota or hypervisor),
///   was interrupted, or slept inside the operator or was stopped.
/// * `wait_started_late`, `wait_slower_core`, `wait_more_rows`: waiting because the last thread
///   started late, has a slower core, or is nearly always last at this operator.
/// * `wait_uneven`: waiting without a visible cause; `wait_one_thread`: the operator runs on one
///   thread.
/// * `preempted`, `throttled`, `interrupted`, `blocked`: the same causes for the thread itself;
///   `waking`: woken on an idle CPU that was leaving its idle state.
/// * `between_operators`: from the release of a barrier to the next start, and at the edges of a
///   graph.
/// * `graph_preparation`: in the call, but in no graph of a backend; `application`: before the
///   call, asleep or not.
/// * `other_backend`: in the graph of another backend, asleep in its operators, and waiting for it.
/// * `probes`: probe overhead, as measured by the agent.
/// * `not_traced`: in graphs without operator capture; `unknown`: lost or not recorded.
///
/// In `wall`, unevenly distributed work counts as waiting for the part that even shares would save.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Display names of the classes, in the order of `classes`.
    pub names: Vec<String>,
    /// The scheduler level was recorded. Otherwise preempted, throttled, interrupted and blocked
    /// time is in `work`, `wait_started_late` and `wait_uneven`.
    pub scheduler: bool,
    /// Class names: the columns of every list of times.
    pub classes: Vec<String>,
    /// Budget per phase that has calls.
    pub phases: Vec<PhaseBudget>,
    /// Budget per successful call, by process and end.
    pub tokens: Vec<TokenBudget>,
}

/// Budget of the calls of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseBudget {
    /// Phase.
    pub phase: Phase,
    /// Number of calls in these figures: the traced ones, or all calls if none was traced.
    pub calls: u64,
    /// Number of calls of the phase.
    pub all_calls: u64,
    /// Sum of the token times, ns; a decode token starts at the end of the previous call.
    pub time_ns: u64,
    /// Time per class, ns, along the last arrivers.
    pub wall: Vec<u64>,
    /// Work in `wall` by operator type, the longest first; sums to the class `work`, or to
    /// `work_and_wait` without operator ends.
    pub work: Vec<BudgetWork>,
    /// Time per class of each thread.
    pub threads: Vec<ThreadBudget>,
}

/// Work of one operator type along the last arrivers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetWork {
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// Time, ns.
    pub ns: u64,
}

/// Time of one thread in the calls of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadBudget {
    /// Kernel thread id; `null` for the combined further threads of an engine that creates threads
    /// all the time.
    pub tid: Option<u32>,
    /// This thread calls `llama_decode`.
    pub calls_tokens: bool,
    /// Sum of the times of the tokens in which it took part, ns.
    pub time_ns: u64,
    /// Time per class, ns.
    pub parts: Vec<u64>,
}

/// Budget of one `llama_decode` call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenBudget {
    /// Row in tokens.parquet.
    pub call: u32,
    /// Phase.
    pub phase: Phase,
    /// Its operators were captured completely.
    pub traced: bool,
    /// Start of the token's time, ns from session start.
    pub start_ns: u64,
    /// Duration of the token, ns.
    pub time_ns: u64,
    /// Time per class, ns, along the last arrivers.
    pub wall: Vec<u64>,
}
