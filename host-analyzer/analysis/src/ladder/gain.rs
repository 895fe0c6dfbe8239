//! The effect of removing causes, with its interval.
//!
//! The error of a gain is that of the time that remains: the spread of the undisturbed time over blocks
//! of calls, which stands for the drift of the machine, the error of the replay, and what the causes
//! that stay do in a shorter time. A gain is about two other sessions, one with the causes and one
//! without: what remains and what the causes take both differ by the spread between sessions.

use crate::replay::{Amounts, CallReplay, Cause};
use crate::shared::sessions::SPREAD;
use crate::stats::mean::Mean;

/// Time that a remedy saves, over all units, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gain {
    pub low_ns: u64,
    pub likely_ns: u64,
    pub high_ns: u64,
}

impl Gain {
    /// Of two causes that are removed together.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            low_ns: self.low_ns.saturating_add(other.low_ns),
            likely_ns: self.likely_ns.saturating_add(other.likely_ns),
            high_ns: self.high_ns.saturating_add(other.high_ns),
        }
    }

    /// The same where what the cause takes is that of another session, too; at most `most_ns`.
    pub(crate) fn of_other_sessions(self, most_ns: u64) -> Self {
        let likely = self.likely_ns;
        let spread = likely as f64 * SPREAD;
        let half = |end: u64| (end.abs_diff(likely) as f64).hypot(spread) as u64;
        let high_ns = likely.saturating_add(half(self.high_ns)).min(most_ns).max(likely);
        Self { low_ns: likely.saturating_sub(half(self.low_ns)), likely_ns: likely, high_ns }
    }
}

/// Relative error of a replayed time: undisturbed calls are predicted from the others with a bias of
/// at most 3 %.
pub(super) const MODEL_ERROR: f64 = 0.03;
/// Scatter of single undisturbed calls: 8 to 11 % in quiet recordings. It stands for the spread
/// where there are too few calls to see it.
const CALL_SCATTER: f64 = 0.1;
/// Fewest calls whose spread is used.
const FEWEST: usize = 8;

/// What is known of removing causes from some calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Removal {
    measured_ns: u64,
    /// Delays by cause, ns.
    caused: Amounts,
    /// What removing each cause alone saves, ns.
    alone: Amounts,
    /// Delays without a recorded cause in calls that also have recorded ones, ns.
    unexplained_ns: u64,
    /// Half width of the interval of the undisturbed time, ns.
    half_ns: f64,
    /// What is left at least, ns: no call gets faster than the fastest one was without its delays, or
    /// than the operators at the limits of the board.
    least_ns: u64,
}

impl Removal {
    pub(super) fn new(rows: &[&CallReplay], measured_ns: u64, floor_ns: u64) -> Self {
        let (half_ns, least_ns) = (undisturbed_error(rows), least(rows).max(floor_ns));
        let mut new = Self { measured_ns, half_ns, least_ns, ..Self::default() };
        for call in rows.iter().filter(|c| !c.caused.is_empty()) {
            new.caused.add_all(&call.caused);
            new.alone.add_all(&call.alone);
            new.unexplained_ns = new.unexplained_ns.saturating_add(call.unexplained_ns);
        }
        new
    }

    /// The gain without the causes that `of` selects.
    pub(crate) fn without(&self, of: impl Fn(Cause) -> bool) -> Gain {
        let sum = |amounts: &Amounts, of: &dyn Fn(Cause) -> bool| {
            amounts.iter().filter(|(cause, _)| of(*cause)).map(|(_, ns)| ns).fold(0, u64::saturating_add)
        };
        // Delays that overlap are in no `alone`, so several causes together save what they caused.
        // Removing one alone may save more than its step, next to another that it prolongs.
        let several = self.caused.iter().filter(|(cause, _)| of(*cause)).count() > 1;
        let step = sum(&self.caused, &of).min(self.measured_ns);
        let alone = if several { step } else { sum(&self.alone, &of) };
        let saved = alone.min(step);
        if saved == 0 {
            return Gain::default();
        }
        // With what the step takes goes what came in that time of the causes that come by the clock. More
        // may go away: delays without a recorded cause; those by an unknown program; and threads that
        // fell asleep while they waited for a delayed one.
        let by_the_clock = sum(&self.caused, &|c| !of(c) && by_the_clock(c));
        let came = by_the_clock as f64 * saved as f64 / self.measured_ns as f64;
        let likely =
            ((saved as f64 + came) as u64).min(self.measured_ns.saturating_sub(self.least_ns)).max(saved);
        let may_follow = sum(&self.caused, &|c| !of(c) && follows(c))
            .saturating_add(self.unexplained_ns)
            .saturating_add(alone - saved);
        let gain = Gain {
            low_ns: (saved as f64 - self.half_ns).max(0.0) as u64,
            likely_ns: likely,
            high_ns: ((likely as f64 + self.half_ns) as u64).saturating_add(may_follow),
        };
        gain.of_other_sessions(self.measured_ns.saturating_sub(self.least_ns))
    }

    /// The gain without any cause; `None` if there is none.
    pub(super) fn all(&self) -> Option<Gain> {
        if self.caused.is_empty() {
            return None;
        }
        Some(self.without(|_| true))
    }
}

/// The cause takes a share of the time, whatever the engine does in it.
const fn by_the_clock(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Program(_) | Cause::Agent | Cause::UnknownHolder | Cause::Interrupts | Cause::Stopped
    )
}

/// The cause may be a consequence of another one.
const fn follows(cause: Cause) -> bool {
    matches!(cause, Cause::WakeUp | Cause::UnknownHolder | Cause::SharedCpu | Cause::Placement)
}

/// The time of a call with all its changes of speed: whether another session is as fast as the fastest part of this
/// one is not known.
fn at_any_speed(call: &CallReplay) -> u64 {
    call.undisturbed_ns().saturating_add(call.caused.get(Cause::LowerSpeed))
}

/// Half width of the interval of the undisturbed time of all calls, ns.
fn undisturbed_error(rows: &[&CallReplay]) -> f64 {
    let all: f64 = rows.iter().map(|c| at_any_speed(c) as f64).sum();
    // The time without a cause is that of another session.
    all * scatter(rows).hypot(MODEL_ERROR).hypot(SPREAD)
}

/// Relative half width of the interval of the mean undisturbed time of some calls.
pub(crate) fn scatter(rows: &[&CallReplay]) -> f64 {
    let times: Vec<u64> = rows.iter().map(|c| at_any_speed(c)).collect();
    match times.len() {
        n @ 0..FEWEST => CALL_SCATTER / (n.max(1) as f64).sqrt(),
        _ => {
            let mean = Mean::new(&times);
            mean.half / mean.mean.max(1.0)
        }
    }
}

/// The time of as many calls as these in another session, if all are as fast as the fastest one without
/// its delays, ns.
fn least(rows: &[&CallReplay]) -> u64 {
    let fastest = rows.iter().map(|c| c.undisturbed_ns().saturating_sub(c.unexplained_ns)).min();
    let few = if rows.len() < FEWEST { CALL_SCATTER } else { 0.0 };
    let error = few.hypot(MODEL_ERROR).hypot(SPREAD);
    (fastest.unwrap_or(0) as f64 * rows.len() as f64 * (1.0 - error)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::CulpritId;

    fn removal(amounts: &[(Cause, u64)]) -> Removal {
        let mut caused = Amounts::default();
        amounts.iter().for_each(|(cause, ns)| caused.add(*cause, *ns));
        Removal { measured_ns: 1_000, alone: caused.clone(), caused, ..Removal::default() }
    }

    /// One program has the CPU for 800 of 1000 ns, another one for 100. Without the first, the other
    /// one has 80 ns less, which were in those 800.
    #[test]
    fn what_stays_takes_the_same_share_of_a_shorter_time() {
        let (one, other) = (Cause::Program(CulpritId(0)), Cause::Program(CulpritId(1)));
        let gain = removal(&[(one, 800), (other, 100)]).without(|c| c == one);
        assert_eq!(gain.likely_ns, 880);
        assert!(gain.low_ns < 800 && gain.high_ns > 900, "{gain:?}");
        // A quota or a page that must be read does not depend on the time.
        let gain = removal(&[(one, 800), (Cause::Blocked, 100)]).without(|c| c == one);
        assert_eq!((gain.low_ns, gain.likely_ns, gain.high_ns), (738, 800, 862));
    }

    /// A program that is there for a hundredth of the time does not bring the gain of one that is there
    /// for nine tenths.
    #[test]
    fn a_short_step_does_not_promise_the_time_of_another() {
        let (long, short) = (Cause::Program(CulpritId(0)), Cause::Program(CulpritId(1)));
        let gain = removal(&[(long, 900), (short, 10)]).without(|c| c == short);
        assert_eq!(gain.likely_ns, 19);
        assert!(gain.high_ns < 25, "{gain:?}");
    }

    /// Whatever the interval, what is left is not less than the fastest call, or than the floor.
    #[test]
    fn no_call_gets_faster_than_the_fastest() {
        let mut removal = removal(&[(Cause::Placement, 500)]);
        (removal.half_ns, removal.least_ns) = (600.0, 300);
        let gain = removal.without(|c| c == Cause::Placement);
        assert_eq!((gain.low_ns, gain.likely_ns, gain.high_ns), (0, 500, 700));
        assert_eq!(Removal::new(&[], 1_000, 200).least_ns, 200);
    }

    #[test]
    fn an_unknown_program_may_be_the_same_one() {
        let one = Cause::Program(CulpritId(0));
        let gain = removal(&[(one, 500), (Cause::UnknownHolder, 50)]).without(|c| c == one);
        assert!(gain.likely_ns < 550 && gain.high_ns >= 550, "{gain:?}");
        assert_eq!(removal(&[(one, 500)]).without(|c| c == Cause::Agent), Gain::default());
    }
}
