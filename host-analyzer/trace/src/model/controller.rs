//! The controller: what it measured, and what it changed.

/// The limit that the controller kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControllerLimit {
    /// Minimum decode speed, thousandths of a token per second.
    KeepAbove(u32),
    /// Maximum slowdown, millionths of the time of all tokens.
    MaxSlowdown(u32),
}

/// Why the controller changed the duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepReason {
    /// The speed was below the limit.
    TooSlow,
    /// The speed was above the limit by a margin for long enough.
    FastEnough,
    /// The slowdown and its interval were above the limit.
    TooDear,
    /// The slowdown and its interval were below the limit by a margin for long enough.
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
    /// Median speed of the last decode calls with one token, thousandths of a token per second;
    /// `None` where unknown.
    pub speed_milli: Option<u32>,
    /// Cost of operators over all tokens at the previous duty; `None` where unknown.
    pub slowdown: Option<MeasuredSlowdown>,
    /// Previous share of the decode calls whose operators were captured, thousandths.
    pub before_permille: u16,
    /// Share from here on, thousandths; 0: none.
    pub after_permille: u16,
}
