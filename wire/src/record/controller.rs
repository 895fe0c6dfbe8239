//! The controller: what it measured, and what it changed.

use serde::{Deserialize, Serialize};

/// The limit that the controller keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControllerLimit {
    /// Decode speed not below, thousandths of a token per second.
    KeepAbove(u32),
    /// Slowdown not above, millionths of the time of all tokens.
    MaxSlowdown(u32),
}

/// Why the controller changed the duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepReason {
    /// The measured speed is under the limit.
    TooSlow,
    /// The measured speed was above the limit, by a margin, for long enough.
    FastEnough,
    /// The measured slowdown is above the limit, with its interval.
    TooDear,
    /// The measured slowdown was under the limit, with its interval and a margin, for long enough.
    CheapEnough,
}

/// A slowdown with the ends of its 95 % interval, millionths: 10,000 are one per cent. Negative: faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slowdown {
    /// Lower end.
    pub low_ppm: i32,
    /// Estimate.
    pub ppm: i32,
    /// Upper end.
    pub high_ppm: i32,
}

/// The controller changed how many token calls have operators. [`super::duty::ProbeSwitch`] tells when that took effect.
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
    /// Median speed of the last decode token calls, thousandths of a token per second; `None`: not known.
    pub speed_milli: Option<u32>,
    /// What operators cost all tokens at the duty of before, by traced against untraced token calls; `None`: not known.
    pub slowdown: Option<Slowdown>,
    /// Share of the token calls whose operators were captured, thousandths.
    pub before_permille: u16,
    /// The same from now on; 0: none, token and graph level stay.
    pub after_permille: u16,
}
