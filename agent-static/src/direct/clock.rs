//! Converts the processor's clock to CLOCK_MONOTONIC by linear interpolation between readings of
//! both clocks.
//!
//! Guarantees: the same tick is always the same time; a later tick is never an earlier time; the
//! error is known.

use crate::clock::monotonic_ns;
use crate::sys::direct::clock::ticks;

/// Readings that are kept: at 20 per second, the last seconds. Older ticks use the oldest line.
const LOOKS: usize = 64;
/// Attempts per reading; the quickest is used.
const TRIES: usize = 5;
/// Fraction bits of a line's slope. Over the 50 ms between two readings, their error is less than a
/// tenth of a nanosecond.
const FRACTION: u32 = 32;

/// A reading of both clocks at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    pub ticks: u64,
    /// CLOCK_MONOTONIC, ns.
    pub ns: u64,
    /// The tick may be wrong by this much in both directions, in ticks.
    pub width: u64,
}

impl Look {
    #[must_use]
    pub fn now() -> Self {
        let one = || {
            let before = ticks();
            let ns = monotonic_ns();
            let width = ticks().wrapping_sub(before) / 2;
            Self { ticks: before.wrapping_add(width), ns, width }
        };
        (1..TRIES).map(|_| one()).fold(one(), |best, look| if look.width < best.width { look } else { best })
    }
}

/// The interpolation between readings.
#[derive(Debug)]
pub struct Clock {
    looks: [Look; LOOKS],
    /// Slope of the line from each reading: ns per tick, with [`FRACTION`] fraction bits. Every
    /// operator has two times, and one division for each used a sixth of the agent's CPU time.
    slopes: [u64; LOOKS],
    /// Readings so far in total.
    count: usize,
    error_ns: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { looks: [Look::default(); LOOKS], slopes: [0; LOOKS], count: 0, error_ns: 0 }
    }
}

impl Clock {
    /// Adds a reading. One that is not later than the last in both clocks would bend the line back
    /// and is ignored.
    pub fn add(&mut self, look: Look) {
        if self.count > 0 {
            let last = self.looks[(self.count - 1) % LOOKS];
            if look.ticks <= last.ticks || look.ns <= last.ns {
                return;
            }
            let (ticks, ns) = (look.ticks - last.ticks, look.ns - last.ns);
            // Rounded up, plus one for the rounding of the interpolation.
            let width = u128::from(look.width.max(last.width));
            let error = (width * u128::from(ns)).div_ceil(u128::from(ticks)) + 1;
            self.error_ns = self.error_ns.max(u64::try_from(error).unwrap_or(u64::MAX));
            let slope = (u128::from(ns) << FRACTION) / u128::from(ticks);
            self.slopes[(self.count - 1) % LOOKS] = u64::try_from(slope).unwrap_or(u64::MAX);
        }
        self.looks[self.count % LOOKS] = look;
        self.count += 1;
    }

    /// Whether `ticks` is before the last reading.
    #[must_use]
    pub fn covers(&self, ticks: u64) -> bool {
        self.count > 1 && ticks <= self.looks[(self.count - 1) % LOOKS].ticks
    }

    /// The time of a tick, ns; `None` before the second reading.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> Option<u64> {
        let oldest = self.count.saturating_sub(LOOKS);
        let last = self.count.checked_sub(2).filter(|last| *last >= oldest)?;
        let at = |n: usize| self.looks[n % LOOKS];
        // Nearly always the newest line.
        let line = (oldest..=last).rev().find(|n| at(*n).ticks <= ticks).unwrap_or(oldest);
        let from = at(line);
        let away = i64::try_from(i128::from(ticks) - i128::from(from.ticks)).ok()?;
        // Rounds to the nearest. The slope is rounded down, so a line ends no later than the next
        // one begins.
        let ns = i128::from(away) * i128::from(self.slopes[line % LOOKS]) + (1 << (FRACTION - 1));
        u64::try_from((ns >> FRACTION) + i128::from(from.ns)).ok()
    }

    /// Largest error of a time, ns.
    #[must_use]
    pub const fn error_ns(&self) -> u64 {
        self.error_ns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn look(ticks: u64, ns: u64) -> Look {
        Look { ticks, ns, width: 40 }
    }

    #[test]
    fn times_are_interpolated_between_readings() {
        let mut clock = Clock::default();
        assert_eq!(clock.ns(5), None);
        clock.add(look(1000, 500));
        assert_eq!(clock.ns(1000), None);
        clock.add(look(3000, 1500));
        clock.add(look(5000, 2400));
        assert_eq!(
            [500, 1000, 2000, 3000, 4000, 5000, 6000].map(|t| clock.ns(t)).map(Option::unwrap_or_default),
            [250, 500, 1000, 1500, 1950, 2400, 2850]
        );
        assert!(clock.covers(5000) && !clock.covers(5001));
        assert_eq!(clock.error_ns(), 21);
        // Readings that would bend the line back are ignored.
        clock.add(look(4000, 9000));
        clock.add(look(9000, 2000));
        assert_eq!(clock.ns(5000), Some(2400));
    }

    proptest! {
        #[test]
        fn time_never_goes_back(steps in proptest::collection::vec((1u64..1 << 40, 1u64..1 << 40), 2..200), ticks in proptest::collection::vec(any::<u64>(), 2..20)) {
            let mut clock = Clock::default();
            let (mut t, mut ns) = (1u64 << 50, 1u64 << 50);
            for (dt, dns) in steps {
                (t, ns) = (t + dt, ns + dns);
                clock.add(look(t, ns));
            }
            let mut ticks: Vec<u64> = ticks.into_iter().map(|t| t >> 12).collect();
            ticks.sort_unstable();
            let times: Vec<_> = ticks.into_iter().filter_map(|t| clock.ns(t)).collect();
            prop_assert!(times.is_sorted());
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn this_machines_clock_is_within_its_error() {
        let mut clock = Clock::default();
        clock.add(Look::now());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let between = Look::now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        clock.add(Look::now());
        let off = clock.ns(between.ticks).unwrap_or(0).abs_diff(between.ns);
        // The kernel's own clock is adjusted in the meantime, by some parts in a million.
        assert!(off <= 2 * clock.error_ns() + 1000, "{off} ns, error {} ns", clock.error_ns());
    }
}
