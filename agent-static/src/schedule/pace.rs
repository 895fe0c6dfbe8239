//! How often the rings of direct probes are polled, which do not wake the reader: as often as they
//! fill.

use std::time::Duration;

use crate::direct::RING;
use crate::lower::Used;
use crate::sys::direct::layout::SLOTS;

/// Longest sleep between two polls: a ring of 8192 records holds 32 ms of a thread with 250,000
/// operators per second.
const LONGEST: Duration = Duration::from_millis(40);
/// The same for an engine that creates new threads for every graph, as builds without OpenMP do.
/// The fastest known one creates four per millisecond, and there are 64 slots.
const LONGEST_OF_THREADS: Duration = Duration::from_millis(8);
/// Shortest sleep, also used first, when nothing is known about the engine.
const SHORTEST: Duration = Duration::from_millis(1);
/// Rings and slots should be filled to 1/PART when polled. The rest is a reserve for when the agent
/// has to wait for a CPU.
const PART: u64 = 5;

/// Follows how fast the rings fill.
#[derive(Debug)]
pub struct Pace {
    sleep: Duration,
    longest: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { sleep: SHORTEST, longest: LONGEST }
    }
}

impl Pace {
    /// The next sleep, after one with this utilization. Grows by at most an eighth, because an idle
    /// engine may start to compute at any time. `None` without direct probes.
    pub fn next(&mut self, used: Option<Used>) -> Option<Duration> {
        let Some(Used { records, threads }) = used else {
            *self = Self::default();
            return None;
        };
        if threads > 1 {
            self.longest = LONGEST_OF_THREADS;
        }
        let used = records.max(threads * RING / SLOTS as u64).max(1);
        let wanted = self.sleep.mul_f64((RING / PART) as f64 / used as f64);
        self.sleep = wanted.min(self.sleep * 9 / 8).clamp(SHORTEST, self.longest);
        Some(self.sleep)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    /// The stable sleep for these records and ended threads per millisecond.
    fn steady(records: u64, threads: u64) -> Duration {
        let (mut pace, mut sleep) = (Pace::default(), SHORTEST);
        for _ in 0..100 {
            let in_sleep = |rate: u64| rate * u64::try_from(sleep.as_micros()).unwrap() / 1000;
            sleep = pace.next(Some(Used { records: in_sleep(records), threads: in_sleep(threads) })).unwrap();
        }
        sleep
    }

    #[test]
    fn rings_are_polled_when_a_fifth_is_full() {
        assert_eq!([0, 20, 40].map(|rate| steady(rate, 0)), [LONGEST; 3]);
        for rate in [250, 500, 1000] {
            let filled = rate * steady(rate, 0).as_micros() as u64 / 1000;
            assert!((RING / PART - 4..=RING / PART).contains(&filled), "{filled} of {RING}");
        }
        assert_eq!(steady(100_000, 0), SHORTEST);
    }

    #[test]
    fn slots_of_threads_that_end_are_freed_in_time() {
        let sleep = steady(500, 4).as_micros() as u64;
        assert!(4 * sleep / 1000 <= SLOTS as u64 / PART, "{sleep} us");
        assert_eq!(steady(0, 1), LONGEST_OF_THREADS);
    }

    #[test]
    fn a_new_engine_is_polled_soon() {
        let mut pace = Pace::default();
        (0..100).for_each(|_| assert!(pace.next(Some(Used::default())).is_some()));
        assert_eq!(pace.sleep, LONGEST);
        assert_eq!(pace.next(None), None);
        assert!(pace.next(Some(Used::default())).is_some_and(|sleep| sleep < SHORTEST * 2));
    }
}
