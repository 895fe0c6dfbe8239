//! The controller: what it measured, and what it changed.

use serde::{Deserialize, Serialize};

/// The limit that the controller keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControllerLimit {
    /// Minimum decode speed, thousandths of a token per second.
    KeepAbove(u32),
    /// Maximum slowdown, millionths of the time of all tokens.
    MaxSlowdown(u32),
}

/// Why the controller changed the duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepReason {
    /// The measured speed is below the limit.
    TooSlow,
    /// The measured speed was above the limit by a margin for long enough.
    FastEnough,
    /// The measured slowdown and its interval are above the limit.
    TooDear,
    /// The measured slowdown and its interval were below the limit by a margin for long enough.
    CheapEnough,
}

/// A slowdown with the ends of its 95 % interval, millionths: 10,000 is 1 %. Negative: faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slowdown {
    /// Lower end.
    pub low_ppm: i32,
    /// Estimate.
    pub ppm: i32,
    /// Upper end.
    pub high_ppm: i32,
}

/// The controller changed the share of decode calls with operators. [`super::duty::ProbeSwitch`]
/// records when that took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerStep {
    /// When, ns.
    pub at_ns: u64,
    /// Process that was measured.
    pub pid: u32,
    /// The limit.
    pub limit: ControllerLimit,
    /// Why.
    pub reason: StepReason,
    /// Median speed of the last decode calls with one token, thousandths of a token per second;
    /// `None`: unknown.
    pub speed_milli: Option<u32>,
    /// Cost of operators over all tokens at the previous duty, from traced and untraced decode
    /// calls; `None`: unknown.
    pub slowdown: Option<Slowdown>,
    /// Previous share of the decode calls whose operators were captured, thousandths.
    pub before_permille: u16,
    /// Share from now on, thousandths; 0: none, and token and graph level stay.
    pub after_permille: u16,
}
