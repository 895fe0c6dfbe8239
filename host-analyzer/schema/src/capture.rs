//! `capture`: which operators were captured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Which operators were captured, and in which calls. Statistics of operators (`op_types`,
/// `operators`, `work`, `nested_calls`, `threads`, `counters`, dag.json, `op_wall_ns`) include only
/// calls whose `traced` is `whole`. Their sums are over these calls and are not scaled to the
/// others. ops.parquet and the timelines also contain the spans of edge calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// Requested share of `llama_decode` calls with operator capture, 0 to 1.
    pub duty_share: f64,
    /// Operator boundaries with a probe: `both` or `none`. With `none` a span lasts until the
    /// thread's next start. Operator times then include the barrier wait after the operator, every
    /// `wait_ns` is `null`, and the budget has the class `work_and_wait`.
    pub ends: String,
    /// Decode speed that the controller kept, tokens per second; `null` without this limit.
    pub keep_above_per_s: Option<f64>,
    /// Slowdown of all tokens that the controller kept, 0.01 is 1 %; `null` without this limit.
    pub max_slowdown: Option<f64>,
    /// Requested options that are not in effect.
    pub refused: Vec<RefusedOption>,
    /// Requested filters.
    pub filters: Vec<Filter>,
    /// Spans excluded by a filter. Not a loss.
    pub spans_filtered: u64,
    /// Spans of tokens that were not to be captured.
    pub spans_gated: u64,
    /// Captured calls per phase.
    pub coverage: Vec<Coverage>,
    /// When operator probes were attached or detached, by process and time.
    pub switches: Vec<Switch>,
    /// Changes by the controller, by time.
    pub steps: Vec<DutyStep>,
}

/// How many calls of a phase have captured operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Phase.
    pub phase: Phase,
    /// Successful calls.
    pub calls: u64,
    /// Calls with complete operator capture.
    pub traced: u64,
    /// Calls without operator probes.
    pub untraced: u64,
    /// Calls during which probes were attached or detached. They are in no operator statistics.
    pub edge: u64,
    /// Number of bursts. A burst is a sequence of traced calls without an untraced call in between.
    pub bursts: u64,
}

/// An option that is not in effect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedOption {
    /// Option.
    pub option: String,
    /// Reason.
    pub why: String,
}

/// A filter on operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Filter {
    /// Property that the filter tests.
    pub on: String,
    /// Pattern, as given by the user.
    pub text: String,
    /// Where the filter is applied: `trap` (no probe is placed), `kernel`, `agent` or `nowhere`
    /// (refused).
    pub place: String,
    /// Why the filter was refused; `null` if it was not.
    pub refused: Option<String>,
}

/// Operator probes were attached or detached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// Process id.
    pub pid: u32,
    /// Attached, not detached.
    pub on: bool,
    /// Reason.
    pub reason: String,
    /// Start of the change, ns.
    pub began_ns: u64,
    /// End of the change, ns.
    pub done_ns: u64,
    /// Number of probes.
    pub probes: u16,
    /// Longest time that the engine was stopped for the change, ns; `null` if it was not stopped.
    pub pause_ns: Option<u64>,
}

/// A change of the duty cycle by the controller.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DutyStep {
    /// Time, ns.
    pub at_ns: u64,
    /// Measured process.
    pub pid: u32,
    /// Reason.
    pub reason: String,
    /// Limit: minimum decode speed, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// Limit: maximum slowdown.
    pub max_slowdown: Option<f64>,
    /// Median speed of the latest decode tokens.
    pub tokens_per_s: Option<f64>,
    /// Slowdown of all tokens by operator capture.
    pub slowdown: Option<f64>,
    /// Low end of its 95 % interval.
    pub low_slowdown: Option<f64>,
    /// High end of the interval.
    pub high_slowdown: Option<f64>,
    /// Duty before the change, 0 to 1.
    pub before_share: f64,
    /// Duty after the change, 0 to 1; 0 turns operator capture off.
    pub after_share: f64,
}
