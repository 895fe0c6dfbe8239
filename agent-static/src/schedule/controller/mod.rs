//! The controller: how much of the operators is captured, by how fast the engine decodes.
//!
//! A state machine without a clock of its own: fed with token calls that ended and with time, it says when the duty changes. It
//! goes down step by step, full → 50 % → 20 % → 10 % → 5 % → none, and slowly back. Between a change and one in the
//! other direction there are at least 10 s. Token and graph level stay in any case.

mod cost;
mod speed;

use profinfer_wire::record::controller::{ControllerLimit, ControllerStep, StepReason};

use crate::lower::progress::Ended;
use crate::schedule::duty::Captured;
use cost::Cost;
use speed::Speed;

/// Duties below the full one, thousandths.
const LADDER: [u16; 5] = [500, 200, 100, 50, 0];
/// Least time between two changes in the same direction downwards, ns.
const DOWN_NS: u64 = 1_000_000_000;
/// Least time before a change in the other direction, and between two upwards, ns.
const TURN_NS: u64 = 10_000_000_000;
/// A step up that is taken back so soon was in vain: the duty that it led to is not tried again for a while.
const VAIN_NS: u64 = 30_000_000_000;
/// How long it is not tried again at first; twice as long each time after that, up to the longest.
const REST_NS: u64 = 60_000_000_000;
const LONGEST_REST_NS: u64 = 16 * REST_NS;
/// Up only where the speed is above the limit by so much, thousandths of it.
const MARGIN: u64 = 1_100;
/// Up only where the slowdown at the higher duty would be under so much of the limit, thousandths of it.
const SLOWDOWN_MARGIN: i64 = 800;
/// Highest duty where a slowdown is to be measured: without untraced tokens there is none.
const MEASURABLE: u16 = 900;
/// After so long without operators, what they cost is tried again.
const RETRY_NS: u64 = 60_000_000_000;

/// What to keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Decode speed not below, thousandths of a token per second; 0 for none.
    pub keep_above_milli: u32,
    /// Slowdown of all tokens not above, millionths; 0 for none.
    pub max_slowdown_ppm: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
}

/// The controller of one engine.
#[derive(Debug, Clone)]
pub struct Controller {
    limits: Limits,
    full: u16,
    duty: u16,
    last: Option<(Direction, u64)>,
    /// A duty that was tried in vain, and until when neither it nor a higher one is tried again.
    vain: Option<(u16, u64)>,
    rest_ns: u64,
    speed: Speed,
    cost: Cost,
}

impl Controller {
    /// Begins at the duty that was asked for; with a limit for the slowdown, at one that leaves tokens to compare with.
    #[must_use]
    pub fn new(limits: Limits, duty_permille: u16) -> Self {
        let full = if limits.max_slowdown_ppm > 0 { duty_permille.min(MEASURABLE) } else { duty_permille };
        let (speed, cost) = (Speed::default(), Cost::default());
        Self { limits, full, duty: full, last: None, vain: None, rest_ns: REST_NS, speed, cost }
    }

    /// The duty now, thousandths.
    #[must_use]
    pub const fn duty(&self) -> u16 {
        self.duty
    }

    /// Takes a token call that has ended.
    pub fn call(&mut self, call: &Ended, captured: Captured) {
        if self.limits == Limits::default() {
            return;
        }
        self.speed.call(call.start_ns, call.end_ns, call.decode && call.good, captured);
        let duration = call.end_ns.saturating_sub(call.start_ns);
        match captured {
            Captured::Edge => {}
            _ if !call.decode || !call.good => {}
            captured => self.cost.call(duration, captured == Captured::Whole),
        }
    }

    /// Changes the duty, where there is reason to.
    pub fn step(&mut self, pid: u32, now_ns: u64) -> Option<ControllerStep> {
        if self.limits == Limits::default() {
            return None;
        }
        let (reason, limit) = self.too_much(now_ns).or_else(|| self.spare(now_ns))?;
        let direction = match reason {
            StepReason::TooSlow | StepReason::TooDear => Direction::Down,
            StepReason::FastEnough | StepReason::CheapEnough => Direction::Up,
        };
        let after = match direction {
            Direction::Down => self.lower()?,
            Direction::Up => self.higher(now_ns)?,
        };
        let step = ControllerStep {
            at_ns: now_ns,
            pid,
            limit,
            reason,
            speed_milli: self.speed.milli(self.duty),
            slowdown: self.cost.at(self.duty),
            before_permille: self.duty,
            after_permille: after,
        };
        let soon = self.since_last(now_ns) < VAIN_NS;
        match (self.last, direction) {
            (Some((Direction::Up, _)), Direction::Down) if soon => {
                self.vain = Some((self.duty, now_ns.saturating_add(self.rest_ns)));
                self.rest_ns = (self.rest_ns * 2).min(LONGEST_REST_NS);
            }
            // It lasted: whatever made it slow is gone.
            (_, Direction::Up) if self.vain.is_some_and(|(duty, _)| after > duty) => {
                (self.vain, self.rest_ns) = (None, REST_NS);
            }
            _ => {}
        }
        (self.duty, self.last) = (after, Some((direction, now_ns)));
        self.speed.clear();
        Some(step)
    }

    fn since_last(&self, now_ns: u64) -> u64 {
        self.last.map_or(u64::MAX, |(_, at)| now_ns.saturating_sub(at))
    }

    /// A limit that is passed.
    fn too_much(&self, now_ns: u64) -> Option<(StepReason, ControllerLimit)> {
        let least = match self.last {
            Some((Direction::Up, _)) => TURN_NS,
            _ => DOWN_NS,
        };
        if self.since_last(now_ns) < least || self.duty == 0 {
            return None;
        }
        let Limits { keep_above_milli: keep, max_slowdown_ppm: most } = self.limits;
        if keep > 0 && self.speed.milli(self.duty).is_some_and(|speed| speed < keep) {
            return Some((StepReason::TooSlow, ControllerLimit::KeepAbove(keep)));
        }
        let dear =
            |most: u32| self.cost.at(self.duty).is_some_and(|s| i64::from(s.low_ppm) > i64::from(most));
        (most > 0 && dear(most)).then_some((StepReason::TooDear, ControllerLimit::MaxSlowdown(most)))
    }

    /// A limit that is kept well enough for a higher duty; all of them must be.
    fn spare(&self, now_ns: u64) -> Option<(StepReason, ControllerLimit)> {
        if self.since_last(now_ns) < TURN_NS {
            return None;
        }
        let higher = self.higher(now_ns)?;
        let Limits { keep_above_milli: keep, max_slowdown_ppm: most } = self.limits;
        let fast = |speed: u32| u64::from(speed) * 1000 >= u64::from(keep) * MARGIN;
        if keep > 0 && !self.speed.milli(self.duty).is_some_and(fast) {
            return None;
        }
        let cheap = || match self.cost.at(higher) {
            Some(s) => i64::from(s.high_ppm) * 1000 < i64::from(most) * SLOWDOWN_MARGIN,
            None => false,
        };
        let retry = self.duty == 0 && self.since_last(now_ns) >= RETRY_NS;
        if most > 0 && !cheap() && !retry {
            return None;
        }
        Some(match keep {
            0 => (StepReason::CheapEnough, ControllerLimit::MaxSlowdown(most)),
            keep => (StepReason::FastEnough, ControllerLimit::KeepAbove(keep)),
        })
    }

    fn lower(&self) -> Option<u16> {
        LADDER.into_iter().find(|duty| *duty < self.duty)
    }

    fn higher(&self, now_ns: u64) -> Option<u16> {
        let rung = LADDER.into_iter().rev().find(|duty| *duty > self.duty && *duty < self.full);
        let higher = rung.or((self.duty < self.full).then_some(self.full))?;
        let rests = self.vain.is_some_and(|(duty, until)| higher >= duty && now_ns < until);
        (!rests).then_some(higher)
    }
}

#[cfg(test)]
mod tests;
