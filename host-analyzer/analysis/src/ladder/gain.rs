//! The effect of removing a cause, with its interval.
//!
//! The measured time is known exactly, and the causes that stay are taken as they were. So the error
//! of a gain is that of the undisturbed time: its spread over blocks of calls, which stands for the
//! drift of the machine, and the error of the replay.

use crate::replay::{CallReplay, Cause};
use crate::stats::mean::Mean;

/// Time that a remedy saves, over all units, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gain {
    pub low_ns: u64,
    pub likely_ns: u64,
    pub high_ns: u64,
}

/// Relative error of a replayed time: undisturbed calls are predicted from the others with a bias of
/// at most 3 %.
const MODEL_ERROR: f64 = 0.03;
/// Scatter of single undisturbed calls: 8 to 11 % in quiet recordings. It stands for the spread
/// where there are too few calls to see it.
const CALL_SCATTER: f64 = 0.1;
/// Fewest calls whose spread is used.
const FEWEST: usize = 8;

/// The gain without one cause.
pub(super) fn without(rows: &[&CallReplay], cause: Cause) -> Gain {
    of(rows, |c| c.alone.get(cause), |c| if cause == Cause::WakeUp { 0 } else { c.caused.get(Cause::WakeUp) })
}

/// The gain where each call becomes shorter by `saved`. `wakes` is the time of waking threads that
/// is not in it.
fn of(rows: &[&CallReplay], saved: impl Fn(&CallReplay) -> u64, wakes: impl Fn(&CallReplay) -> u64) -> Gain {
    let total = |of: &dyn Fn(&CallReplay) -> u64| rows.iter().map(|c| of(c)).fold(0, u64::saturating_add);
    let (likely, measured) = (total(&|c| saved(c).min(c.time_ns)), total(&|c| c.time_ns));
    let half = undisturbed_error(rows);
    // Delays without a recorded cause, and threads that fell asleep while they waited for a delayed
    // one, may go away too.
    let may_follow = |c: &CallReplay| {
        if saved(c) == 0 { 0 } else { c.unexplained_ns.saturating_add(wakes(c)) }
    };
    let high = likely as f64 + half + total(&may_follow) as f64;
    Gain {
        low_ns: (likely as f64 - half).max(0.0) as u64,
        likely_ns: likely,
        high_ns: (high as u64).min(measured),
    }
}

/// Half width of the interval of the undisturbed time of all calls, ns.
fn undisturbed_error(rows: &[&CallReplay]) -> f64 {
    let times: Vec<u64> = rows.iter().map(|c| c.undisturbed_ns()).collect();
    let (n, all) = (times.len().max(1) as f64, times.iter().map(|t| *t as f64).sum::<f64>());
    let spread = match times.len() {
        0..FEWEST => all * CALL_SCATTER / n.sqrt(),
        _ => Mean::new(&times).half * n,
    };
    spread.hypot(all * MODEL_ERROR)
}

/// The gain without any cause; `None` if there is none.
pub(super) fn all(rows: &[&CallReplay]) -> Option<Gain> {
    let any = rows.iter().any(|c| !c.caused.is_empty());
    any.then(|| of(rows, |c| c.caused.total(), |_| 0))
}
