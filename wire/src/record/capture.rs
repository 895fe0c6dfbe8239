//! Capture options for operators: as requested, as in force, and what they leave out.

use serde::{Deserialize, Serialize};

use super::totals::totals;

/// All decode calls, in thousandths: [`CaptureRequest::duty_permille`] of a capture without a
/// limit.
pub const ALWAYS: u16 = 1000;

/// Which ends of an operator have a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ends {
    /// Start and end: a span is the work, and the wait at the barrier follows it.
    #[default]
    Both,
    /// The start only: a span lasts until the thread's next start; the last one of a graph call
    /// lasts until the call's end. It includes the work and the wait after it.
    None,
}

/// Why an option or a filter is not in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// No operators are captured: the level is off, or no probe could be placed.
    NoOperators,
    /// The engine has no decode calls that can be probed.
    NoTokenCalls,
    /// The engine's operators are found by the entry and return of a function. Starts alone cannot
    /// be distinguished from calls that do nothing.
    NotCallSites,
    /// Counters are read, which need both ends of an operator.
    Counters,
    /// Another option excludes it.
    Excluded,
    /// More, longer or larger than the agent accepts.
    TooMuch,
    /// It cannot be observed from outside the engine.
    Unseen,
    /// The kernel refused what it needs.
    Kernel,
    /// The agent cannot parse it: a list, a range or a pattern.
    Unreadable,
}

/// Capture options for operators. Sent between plan and start, at most once. Without it, the agent
/// captures everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRequest {
    /// Share of the decode calls whose operators are captured, in thousandths, 1 to [`ALWAYS`].
    pub duty_permille: u16,
    /// Which ends of an operator are probed.
    pub ends: Ends,
    /// Decode speed below which the agent captures fewer operators, thousandths of a token per
    /// second; 0 for no limit.
    pub keep_above_milli: u32,
    /// Slowdown above which the agent captures fewer operators, millionths of the time of all
    /// tokens; 0 for no limit.
    pub max_slowdown_ppm: u32,
}

/// The options of a [`CaptureRequest`] that are in force, and why the others are not. Sent when the
/// session begins and again after a change. Without it, nothing was requested and the agent
/// captures everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureOptions {
    /// Time from which they are in force, ns.
    pub at_ns: u64,
    /// As in the request; [`ALWAYS`] where it was refused.
    pub duty_permille: u16,
    /// As in the request.
    pub ends: Ends,
    /// As in the request; 0 where it was refused.
    pub keep_above_milli: u32,
    /// As in the request; 0 where it was refused.
    pub max_slowdown_ppm: u32,
    /// Why the duty cycle is not in force.
    pub duty_refused: Option<Refusal>,
    /// Why ends are probed although only starts were requested.
    pub ends_refused: Option<Refusal>,
    /// Why the speed is not kept.
    pub keep_above_refused: Option<Refusal>,
    /// Why the slowdown is not limited.
    pub max_slowdown_refused: Option<Refusal>,
}

totals! {
    /// Totals since the session began of what options and filters left out, sent together with
    /// [`super::loss::Loss`]. Absent where the request left nothing out. It completes the ledger:
    /// `span_ends = spans_sent + spans_ring_full + spans_queue_full + spans_no_start +
    /// spans_no_graph + spans_filtered + spans_gated`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CaptureLoss {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Operators that a filter left out: seen, but not sent.
        pub spans_filtered: u64,
        /// Hits of the operator end probe (with [`Ends::None`], of the start probe) in calls that
        /// are not captured, while probes were being inserted or removed.
        pub spans_gated: u64,
        /// Starts in such calls whose end was not seen; not part of the sum.
        pub starts_gated: u64,
        /// Decode calls whose operators were captured completely.
        pub tokens_traced: u64,
        /// Decode calls whose operators were not captured.
        pub tokens_untraced: u64,
        /// Partially traced decode calls: capture changed while they ran.
        pub tokens_edge: u64,
        /// How often operator probes were inserted or removed.
        pub switches: u64,
        /// Time that the agent spent on that, ns.
        pub switch_ns: u64,
    }
}
