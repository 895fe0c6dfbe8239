//! The controller: what it measured, and what it changed.

/// The limit that the controller kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControllerLimit {
    /// Decode speed not below, thousandths of a token per second.
    KeepAbove(u32),
    /// Slowdown not above, millionths of the time of all tokens.
    MaxSlowdown(u32),
}

/// Why the controller changed the duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepReason {
    /// The speed was under the limit.
    TooSlow,
    /// The speed was above the limit, by a margin, for long enough.
    FastEnough,
    /// The slowdown was above the limit, with its interval.
    TooDear,
    /// The slowdown was under the limit, with its interval and a margin, for long enough.
    CheapEnough,
}

/// A slowdown with the ends of its 95 % interval, millionths. Negative: faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredSlowdown {
    /// Lower end.
    pub low_ppm: i32,
    /// Estimate.
    pub ppm: i32,
    /// Upper end.
    pub high_ppm: i32,
}

/// One change of the duty by the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllerStep {
    /// When, ns.
    pub at_ns: u64,
    /// Process that was measured.
    pub pid: u32,
    /// The limit.
    pub limit: ControllerLimit,
    /// Why.
    pub reason: StepReason,
    /// Median speed of the last decode token calls, thousandths of a token per second; `None` where it was not known.
    pub speed_milli: Option<u32>,
    /// What operators cost all tokens at the duty of before; `None` where it was not known.
    pub slowdown: Option<MeasuredSlowdown>,
    /// Share of the token calls whose operators were captured before, thousandths.
    pub before_permille: u16,
    /// The same from here on; 0: none.
    pub after_permille: u16,
}
