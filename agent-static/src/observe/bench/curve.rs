//! The read curve: read bandwidth of the cores by working set.
//!
//! An engine reads the weights of a model once per token, so the share that is still in a cache
//! depends on their size. One working set represents one model size only. And no size is certain to
//! exceed every cache: some kernels report no cache, and some machines have caches of hundreds of
//! megabytes.

use std::time::Duration;

use profinfer_wire::record::ceiling::{CurveEnd, doubt};

use super::stats::{Spread, spread};
use crate::error::Result;

/// The curve ends at this multiple of the last-level cache: data that is read again has left the
/// cache by then.
const CACHES: u64 = 4;
/// Minimum assumed size of a last-level cache, in bytes. Phones and boards have caches between
/// cores and memory that no kernel reports.
const LEAST_CACHE: u64 = 8 << 20;
/// The smallest working set: it fits the second-level cache of every core that has one.
const LEAST_BYTES: u64 = 256 << 10;
/// Each working set is this multiple of the previous one.
const STEP: u64 = 2;
/// Shortest window of a repetition. In shorter windows, reading the clock and a late thread distort
/// the result. A short budget gets fewer points instead.
const LEAST_WINDOW: Duration = Duration::from_millis(1);
/// A curve may use this multiple of its share of the budget: one pass over each working set before
/// it is measured, and repeated measurements of unstable points.
pub(super) const OVERTIME: u32 = 2;
/// How often an unstable point is measured again, if there is time.
const RETRIES: u32 = 2;

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Working set of all threads together in bytes; 0 for kinds that read no memory.
    pub bytes: u64,
    pub spread: Spread,
    /// Bits of [`doubt`].
    pub doubts: u32,
    /// Why no larger point follows.
    pub end: CurveEnd,
}

/// The largest working set for these caches in this much memory, and what ends the curve there. If
/// the cache size is unknown, only memory (and time) end the curve.
#[must_use]
pub(super) fn top(cache: Option<u64>, room: u64) -> (u64, CurveEnd) {
    match cache.map(|bytes| bytes.max(LEAST_CACHE).saturating_mul(CACHES)) {
        Some(wanted) if wanted <= room => (wanted, CurveEnd::Cache),
        _ => (room.max(LEAST_BYTES), CurveEnd::Memory),
    }
}

/// Working sets up to `top`, as many as `length` allows with `windows` for each.
#[must_use]
pub(super) fn ladder(top: u64, length: Duration, windows: u32) -> Vec<u64> {
    let below = std::iter::successors(Some(LEAST_BYTES), |b| b.checked_mul(STEP)).take_while(|b| *b < top);
    let all: Vec<u64> = below.chain([top]).collect();
    let time_for = length.as_nanos() / (LEAST_WINDOW * windows).as_nanos().max(1);
    let most = usize::try_from(time_for).unwrap_or(usize::MAX).clamp(1, all.len());
    // Always the largest; the others at even distances from it, including the smallest.
    let steps = (all.len() - 1).max(1);
    let mut chosen: Vec<u64> =
        (0..most).map(|i| all[all.len() - 1 - (i * steps).div_ceil((most - 1).max(1)).min(steps)]).collect();
    chosen.reverse();
    chosen.dedup();
    chosen
}

/// Whether these repetitions vary too much. Every disturbance makes a repetition slower, so a few
/// slow ones are harmless. But if the best is 1.5 times as fast as the median, most were disturbed.
#[must_use]
pub(super) const fn unstable(s: Spread) -> bool {
    s.max.saturating_mul(2) > s.median.saturating_mul(3)
}

/// Measures each working set of `ladder`, from the smallest. `measure` returns the rates of the
/// repetitions, bytes per second. A working set that would take longer than `most` ends the curve;
/// the first one is always measured.
///
/// # Errors Those of `measure`.
pub(super) fn climb(
    ladder: &[u64],
    end: CurveEnd,
    most: Duration,
    elapsed: &dyn Fn() -> Duration,
    measure: &mut dyn FnMut(u64) -> Result<Vec<u64>>,
) -> Result<Vec<Point>> {
    let mut points: Vec<Point> = Vec::new();
    // Time for the repetitions of a point, in addition to one pass over its working set.
    let mut windows = Duration::ZERO;
    let lasts = |bytes: u64, rate: u64, windows: Duration| {
        windows + Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64)
    };
    for bytes in ladder {
        if let Some(last) = points.last_mut()
            && elapsed() + lasts(*bytes, last.spread.median, windows) > most
        {
            last.end = CurveEnd::Time;
            break;
        }
        let before = elapsed();
        let Some(figures) = spread(measure(*bytes)?) else { continue };
        let took = elapsed().saturating_sub(before);
        windows = took.saturating_sub(lasts(*bytes, figures.median, Duration::ZERO));
        points.push(point(*bytes, figures));
    }
    if let Some(last) = points.last_mut().filter(|last| last.end == CurveEnd::Open) {
        last.end = end;
    }
    for _ in 0..RETRIES {
        // The largest first: it represents all larger models.
        for p in points.iter_mut().rev().filter(|p| p.doubts != 0) {
            if elapsed() + lasts(p.bytes, p.spread.median, windows) > most {
                continue;
            }
            let again = spread(measure(p.bytes)?).map(|figures| point(p.bytes, figures));
            let better = |new: &Point| (new.doubts == 0, new.spread.median) > (false, p.spread.median);
            if let Some(new) = again.filter(better) {
                *p = Point { end: p.end, ..new };
            }
        }
    }
    Ok(points)
}

fn point(bytes: u64, spread: Spread) -> Point {
    let doubts = if unstable(spread) { doubt::UNSTABLE } else { 0 };
    Point { bytes, spread, doubts, end: CurveEnd::Open }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use std::cell::Cell;

    use super::*;

    const MIB: u64 = 1 << 20;
    /// The share of a read measurement in the default budget, and its windows.
    const LENGTH: Duration = Duration::from_millis(480);
    const WINDOWS: u32 = 8;

    /// A simulated machine whose clock advances with its reads.
    struct Machine {
        now: Cell<Duration>,
        /// Bytes per second, by working set and number of earlier measurements.
        rate: fn(u64, u32) -> Vec<u64>,
        measured: Vec<u64>,
    }

    impl Machine {
        fn new(rate: fn(u64, u32) -> Vec<u64>) -> Self {
            Self { now: Cell::new(Duration::ZERO), rate, measured: Vec::new() }
        }

        /// Its curve for these caches and this much memory, and the time used.
        fn climb(&mut self, cache: Option<u64>, room: u64) -> (Vec<Point>, Duration) {
            let (top, end) = top(cache, room);
            let ladder = ladder(top, LENGTH, WINDOWS);
            let windows = LENGTH / u32::try_from(ladder.len()).unwrap();
            let (now, rate, measured) = (&self.now, self.rate, &mut self.measured);
            let points = climb(&ladder, end, LENGTH * OVERTIME, &|| now.get(), &mut |bytes| {
                let before = measured.iter().filter(|b| **b == bytes).count();
                measured.push(bytes);
                let rates = rate(bytes, u32::try_from(before).unwrap());
                let pass = Duration::from_secs_f64(bytes as f64 / rates[0] as f64);
                now.set(now.get() + windows + pass);
                Ok(rates)
            });
            (points.unwrap(), now.get())
        }
    }

    fn sizes(points: &[Point]) -> Vec<u64> {
        points.iter().map(|p| p.bytes).collect()
    }

    fn doublings(top: u64) -> Vec<u64> {
        let mut all: Vec<u64> =
            std::iter::successors(Some(256 << 10), |b| Some(b * 2)).take_while(|b| *b < top).collect();
        all.push(top);
        all
    }

    fn steady(rate: u64) -> Vec<u64> {
        vec![rate; 7]
    }

    /// 40 GB/s from a cache of 480 MB, 10 GB/s from memory.
    fn sapphire_rapids(bytes: u64, _: u32) -> Vec<u64> {
        steady(if bytes <= 480 * MIB { 40_000_000_000 } else { 10_000_000_000 })
    }

    #[test]
    fn a_cache_of_480_megabytes_is_exceeded_four_times() {
        let (points, took) = Machine::new(sapphire_rapids).climb(Some(480 * MIB), 2048 * MIB);
        assert_eq!(sizes(&points), doublings(1920 * MIB));
        let last = points.last().unwrap();
        assert_eq!((last.end, last.spread.median), (CurveEnd::Cache, 10_000_000_000));
        assert!(points.iter().all(|p| p.doubts == 0) && took <= LENGTH * OVERTIME, "{took:?}");
        assert!(points.iter().rev().skip(1).all(|p| p.end == CurveEnd::Open));
    }

    #[test]
    fn the_memory_bounds_it() {
        // 1.6 GB are free on a board of 2 GB: less than four times this cache.
        let (points, _) = Machine::new(sapphire_rapids).climb(Some(480 * MIB), 800 * MIB);
        assert_eq!((sizes(&points), points.last().unwrap().end), (doublings(800 * MIB), CurveEnd::Memory));
        // Nothing is free: the smallest working set is still tried.
        assert_eq!(top(Some(MIB), 0), (LEAST_BYTES, CurveEnd::Memory));
        assert_eq!(
            top(None, 64 * MIB),
            (64 * MIB, CurveEnd::Memory),
            "no cache is reported: memory is the limit"
        );
    }

    /// A board with 512 KB reads four times the assumed 8 MB cache: 32 MB of its 2 GB.
    #[test]
    fn a_small_board_uses_little_memory_and_time() {
        let (points, took) = Machine::new(|_, _| steady(4_000_000_000)).climb(Some(512 << 10), 800 * MIB);
        assert_eq!((sizes(&points), points.last().unwrap().end), (doublings(32 * MIB), CurveEnd::Cache));
        assert!(took < LENGTH + Duration::from_millis(20), "{took:?}");
    }

    /// An emulated board, which reads 300 MB/s and reports no caches, stops in time.
    #[test]
    fn a_slow_machine_ends_in_time() {
        let (points, took) = Machine::new(|_, _| steady(300_000_000)).climb(None, 2048 * MIB);
        let last = points.last().unwrap();
        assert!(last.end == CurveEnd::Time && (64 * MIB..512 * MIB).contains(&last.bytes), "{points:?}");
        assert!(took <= LENGTH * OVERTIME, "{took:?}");
        // A machine that would need minutes still has its first point.
        let (points, _) = Machine::new(|_, _| steady(1_000)).climb(None, 64 * MIB);
        assert_eq!((sizes(&points), points[0].end), (vec![LEAST_BYTES], CurveEnd::Time));
    }

    #[test]
    fn an_unstable_point_is_measured_again_and_doubtful_at_last() {
        // At 8 MB most repetitions are disturbed the first time; at 1 MB each time.
        fn rate(bytes: u64, before: u32) -> Vec<u64> {
            match (bytes / MIB, before) {
                (8, 0) | (1, _) => [10, 10, 10, 10, 20, 20, 20].iter().map(|r| r * 1_000_000_000).collect(),
                _ => steady(20_000_000_000),
            }
        }
        let mut machine = Machine::new(rate);
        let (points, took) = machine.climb(Some(8 * MIB), 2048 * MIB);
        let doubtful: Vec<u64> =
            points.iter().filter(|p| p.doubts == doubt::UNSTABLE).map(|p| p.bytes).collect();
        assert_eq!(doubtful, [MIB]);
        assert_eq!(machine.measured[8..], [8 * MIB, MIB, MIB]);
        assert!(took <= LENGTH * OVERTIME, "{took:?}");
        let of = |bytes| points.iter().find(|p| p.bytes == bytes).unwrap().spread.median;
        assert_eq!((of(8 * MIB), of(MIB)), (20_000_000_000, 10_000_000_000));
    }

    #[test]
    fn slow_repetitions_are_harmless_unless_most_are_slow() {
        let of = |values: [u64; 7]| unstable(spread(values.to_vec()).unwrap());
        assert!(!of([1, 1, 1, 20, 20, 20, 21]));
        assert!(!of([20, 20, 20, 20, 20, 20, 30]));
        assert!(of([20, 20, 20, 20, 20, 20, 31]));
        assert!(of([10, 10, 10, 10, 20, 20, 20]));
        assert!(!of([0; 7]) && !of([u64::MAX; 7]));
    }

    #[test]
    fn a_short_budget_has_fewer_points() {
        assert_eq!(ladder(32 * MIB, LENGTH, WINDOWS), doublings(32 * MIB));
        let of = |ms| ladder(32 * MIB, Duration::from_millis(ms), WINDOWS);
        assert_eq!(of(0), [32 * MIB]);
        assert_eq!(of(16), [256 << 10, 32 * MIB]);
        assert_eq!(of(24), [256 << 10, 2 * MIB, 32 * MIB]);
        for ms in 0..200 {
            let chosen = of(ms);
            let most = usize::try_from(ms / 8).unwrap().clamp(1, 8);
            assert!(
                chosen.len() == most && chosen.is_sorted() && chosen.last() == Some(&(32 * MIB)),
                "{chosen:?}"
            );
        }
        assert_eq!(ladder(1000, LENGTH, WINDOWS), [1000]);
        assert_eq!(ladder(LEAST_BYTES, LENGTH, WINDOWS), [LEAST_BYTES]);
    }
}
