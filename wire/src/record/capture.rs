//! What of the engine's operators is captured: the options asked for and in force, and what they leave out.

use serde::{Deserialize, Serialize};

use super::totals::totals;

/// Every token call, in thousandths: [`CaptureRequest::duty_permille`] of a capture that is not limited.
pub const ALWAYS: u16 = 1000;

/// Which edges of an operator have a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ends {
    /// Start and end: a span is the work, and the wait at the barrier follows it.
    #[default]
    Both,
    /// The start only: a span goes on to the thread's next start, the last one of a graph call to the call's end. It holds
    /// the work and the wait behind it.
    None,
}

/// Why an option or a filter is not in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// No operators are captured: the level is off, or no probe could be placed.
    NoOperators,
    /// The engine has no token calls that can be probed.
    NoTokenCalls,
    /// The engine's operators are found by the entry and the return of a function, so that starts alone are not told from
    /// calls that do nothing.
    NotCallSites,
    /// Counters are read, which need both edges of an operator.
    Counters,
    /// Another option excludes it.
    Excluded,
    /// More, longer or larger than the agent takes.
    TooMuch,
    /// What it asks for cannot be seen from outside of the engine.
    Unseen,
    /// The kernel did not take what it needs.
    Kernel,
    /// It is not what the agent understands: a list, a range or a pattern that cannot be read.
    Unreadable,
}

/// What to capture of the operators. Sent between plan and start, at most once; without it, everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRequest {
    /// Share of the token calls whose operators are captured, in thousandths, 1 to [`ALWAYS`].
    pub duty_permille: u16,
    /// Which edges of an operator are probed.
    pub ends: Ends,
    /// Decode speed under which operators are captured less, thousandths of a token per second; 0 for none.
    pub keep_above_milli: u32,
    /// Slowdown of the traced tokens, all tokens taken together, above which operators are captured less, millionths; 0 for
    /// none.
    pub max_slowdown_ppm: u32,
}

/// What is in force of a [`CaptureRequest`], and why the rest is not. Sent when the session begins and again when it changes;
/// absent where nothing was asked for: then everything is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureOptions {
    /// Since when, ns.
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
    /// Why ends are probed although starts alone were asked for.
    pub ends_refused: Option<Refusal>,
    /// Why the speed is not kept.
    pub keep_above_refused: Option<Refusal>,
    /// Why the slowdown is not limited.
    pub max_slowdown_refused: Option<Refusal>,
}

totals! {
    /// Totals of what options and filters left out since the session began, beside [`super::loss::Loss`], of the same moment.
    /// Absent where nothing was asked to be left out. It completes the ledger: `span_ends = spans_sent + spans_ring_full +
    /// spans_queue_full + spans_no_start + spans_no_graph + spans_filtered + spans_gated`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CaptureLoss {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Operators that a filter left out: seen, and not sent.
        pub spans_filtered: u64,
        /// Hits of the operator end probe (with [`Ends::None`], of the start probe) in calls that are not captured: the probes
        /// were being put in or taken out.
        pub spans_gated: u64,
        /// Starts in such calls whose end was not seen; no part of the sum.
        pub starts_gated: u64,
        /// Token calls whose operators were captured whole.
        pub tokens_traced: u64,
        /// Token calls whose operators were not captured.
        pub tokens_untraced: u64,
        /// Token calls that ran while it changed.
        pub tokens_edge: u64,
        /// How often operator probes were put in or taken out.
        pub switches: u64,
        /// Time that this took the agent, ns.
        pub switch_ns: u64,
    }
}
