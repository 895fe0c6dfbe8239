//! The controller: chooses how many operators are captured, by the engine's decode speed.
//!
//! A state machine that gets ended decode calls and the time as input, and decides when the duty
//! changes. With a limit for the slowdown, the first duty follows from a prediction and from the
//! first bursts (`Cost::at_first`); it is no change that is reported. Then it goes down step by step,
//! full → 50 % → 20 % → 10 % → 5 % → none, and slowly back. There are at least 10 s between a change and one in the other direction. The token and graph
//! levels always stay on.

mod cost;
mod speed;

use profinfer_wire::record::controller::{ControllerLimit, ControllerStep, StepReason};

use crate::lower::progress::Ended;
use crate::schedule::duty::Captured;
use cost::Cost;
use speed::Speed;

/// Duties below the full one, thousandths.
const LADDER: [u16; 5] = [500, 200, 100, 50, 0];
/// Minimum time between two steps down, ns.
const DOWN_NS: u64 = 1_000_000_000;
/// Minimum time before a change of direction, and between two steps up, ns.
const TURN_NS: u64 = 10_000_000_000;
/// A step up that is reverted within this time has failed: its duty is not tried again for a while.
const REVERTED_NS: u64 = 30_000_000_000;
/// How long a failed duty is not tried again at first. Doubles each time up to the longest.
const REST_NS: u64 = 60_000_000_000;
const LONGEST_REST_NS: u64 = 16 * REST_NS;
/// Steps up only if the speed is above the limit by this factor, in thousandths.
const MARGIN: u64 = 1_100;
/// Steps up only if the slowdown at the higher duty would be below this share of the limit, in
/// thousandths.
const SLOWDOWN_MARGIN: i64 = 800;
/// Highest duty if a slowdown is to be measured, which needs untraced tokens.
const MEASURABLE: u16 = 900;
/// After this time without operators, their cost is tried again.
const RETRY_NS: u64 = 60_000_000_000;

/// The limits to keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Lowest decode speed, thousandths of a token per second; 0 for none.
    pub keep_above_milli: u32,
    /// Highest slowdown of all tokens, millionths; 0 for none.
    pub max_slowdown_ppm: u32,
}

impl Limits {
    /// Highest slowdown by operators, millionths. Traced and untraced tokens both bear the token and
    /// graph levels, the scheduler level and what the agent reads of them, so their comparison does not
    /// show it: 0.6 to 1.7 % measured (docs/performance.md), half of the default limit.
    const fn operators_ppm(self) -> u32 {
        self.max_slowdown_ppm / 2
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
}

#[derive(Debug, Clone)]
pub struct Controller {
    limits: Limits,
    full: u16,
    duty: u16,
    last: Option<(Direction, u64)>,
    /// A duty that has failed, and the time until which neither it nor a higher one is tried again.
    failed: Option<(u16, u64)>,
    rest_ns: u64,
    speed: Speed,
    cost: Cost,
}

impl Controller {
    /// Starts at the configured duty. With a slowdown limit, starts at one that leaves untraced
    /// tokens for comparison. `pair_ns`: cost of a pair of probes, if measured.
    #[must_use]
    pub fn new(limits: Limits, duty_permille: u16, pair_ns: Option<u64>) -> Self {
        let full = if limits.max_slowdown_ppm > 0 { duty_permille.min(MEASURABLE) } else { duty_permille };
        let (speed, cost) = (Speed::default(), Cost::new(pair_ns));
        Self { limits, full, duty: full, last: None, failed: None, rest_ns: REST_NS, speed, cost }
    }

    /// Current duty, thousandths.
    #[must_use]
    pub const fn duty(&self) -> u16 {
        self.duty
    }

    /// Processes a decode call that has ended. `agent_ns`: CPU time that the agent has used.
    pub fn call(&mut self, call: &Ended, captured: Captured, agent_ns: u64) {
        if self.limits == Limits::default() {
            return;
        }
        self.speed.call(call.start_ns, call.end_ns, call.decode && call.good, captured);
        let duration = call.end_ns.saturating_sub(call.start_ns);
        match captured {
            Captured::Edge => {}
            _ if !call.decode || !call.good => {}
            captured => {
                self.cost.call(duration, (captured == Captured::All).then_some(call.operators), agent_ns);
                self.begin();
            }
        }
    }

    /// Sets the first duty, as long as it is not known by an interval.
    fn begin(&mut self) {
        if self.limits.max_slowdown_ppm == 0 || self.last.is_some() {
            return;
        }
        if let Some(slowdown) = self.cost.at_first() {
            self.duty = first_duty(self.limits.operators_ppm(), slowdown, self.full);
        }
    }

    /// Changes the duty if necessary.
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
        let soon = self.since_last(now_ns) < REVERTED_NS;
        match (self.last, direction) {
            (Some((Direction::Up, _)), Direction::Down) if soon => {
                self.failed = Some((self.duty, now_ns.saturating_add(self.rest_ns)));
                self.rest_ns = (self.rest_ns * 2).min(LONGEST_REST_NS);
            }
            // The step lasted: the cause of the slowness is gone.
            (_, Direction::Up) if self.failed.is_some_and(|(duty, _)| after > duty) => {
                (self.failed, self.rest_ns) = (None, REST_NS);
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

    /// A limit that is violated.
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
        let dear = || {
            let limit = i64::from(self.limits.operators_ppm());
            self.cost.at(self.duty).is_some_and(|s| i64::from(s.low_ppm) > limit)
        };
        (most > 0 && dear()).then_some((StepReason::TooDear, ControllerLimit::MaxSlowdown(most)))
    }

    /// A limit that leaves enough margin for a higher duty. All limits must.
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
            Some(s) => {
                i64::from(s.high_ppm) * 1000 < i64::from(self.limits.operators_ppm()) * SLOWDOWN_MARGIN
            }
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
        let rests = self.failed.is_some_and(|(duty, until)| higher >= duty && now_ns < until);
        (!rests).then_some(higher)
    }
}

/// The duty at which all calls together are slower by the limit, if traced ones are slower by
/// `slowdown_ppm`; at least a thousandth, at most `full`.
fn first_duty(limit_ppm: u32, slowdown_ppm: i64, full: u16) -> u16 {
    if slowdown_ppm <= 0 {
        return full;
    }
    let permille = (i64::from(limit_ppm) * 1000) / slowdown_ppm;
    u16::try_from(permille).unwrap_or(full).clamp(1, full.max(1))
}

#[cfg(test)]
mod tests;
