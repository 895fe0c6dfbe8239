//! `capture`: which operators were captured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Capture of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// Share of the token calls whose operators were to be captured, 0 to 1.
    pub duty_share: f64,
    /// Which edges of an operator had a probe: `both` or `none`. With `none` the time of an
    /// operator has the wait behind it in it.
    pub ends: String,
    /// Speed that the controller kept, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// Slowdown of all tokens that the controller kept; 0.01 is 1 %.
    pub max_slowdown: Option<f64>,
    /// Options that were asked for and are not in force.
    pub refused: Vec<RefusedOption>,
    /// Filters that were asked for.
    pub filters: Vec<Filter>,
    /// Spans that a filter left out: seen by the kernel, and not lost.
    pub spans_filtered: u64,
    /// Spans of tokens that were not to be captured.
    pub spans_gated: u64,
    /// Of the phases that have token calls.
    pub coverage: Vec<Coverage>,
    /// When operator probes were put in or taken out, by process and time.
    pub switches: Vec<Switch>,
    /// What the controller changed, by time.
    pub steps: Vec<DutyStep>,
}

/// Of how many calls of a phase operators are known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Phase.
    pub phase: Phase,
    /// Successful calls.
    pub calls: u64,
    /// Calls whose operators were captured whole.
    pub traced: u64,
    /// Calls that ran without operator probes.
    pub untraced: u64,
    /// Calls in which probes were attached or detached: in no figure of operators.
    pub edge: u64,
    /// Bursts that the traced calls are in.
    pub bursts: u64,
}

/// An option that is not in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedOption {
    /// The option.
    pub option: String,
    /// Why.
    pub why: String,
}

/// A filter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Filter {
    /// What it looks at.
    pub on: String,
    /// What passes, as it was given.
    pub text: String,
    /// Where it works: `trap`, `kernel`, `agent` or `nowhere`.
    pub place: String,
    /// Why it works nowhere.
    pub refused: Option<String>,
}

/// Operator probes were put in or taken out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// Process.
    pub pid: u32,
    /// Put in.
    pub on: bool,
    /// Why.
    pub reason: String,
    /// It began, ns.
    pub began_ns: u64,
    /// It was done, ns.
    pub done_ns: u64,
    /// Probes.
    pub probes: u16,
    /// Longest time for which the engine stood still for it, ns.
    pub pause_ns: Option<u64>,
}

/// A change of the duty by the controller.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DutyStep {
    /// When, ns.
    pub at_ns: u64,
    /// Process that was measured.
    pub pid: u32,
    /// Why.
    pub reason: String,
    /// The limit: a speed not to fall under, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// The limit: a slowdown not to exceed.
    pub max_slowdown: Option<f64>,
    /// Median speed of the last decode tokens.
    pub tokens_per_s: Option<f64>,
    /// What operators cost all tokens.
    pub slowdown: Option<f64>,
    /// Low end of its interval of 95 %.
    pub low_slowdown: Option<f64>,
    /// High end.
    pub high_slowdown: Option<f64>,
    /// Duty before, 0 to 1.
    pub before_share: f64,
    /// From here on; 0: no operators.
    pub after_share: f64,
}
