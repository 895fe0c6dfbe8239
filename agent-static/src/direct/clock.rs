//! From the processor's clock to CLOCK_MONOTONIC: a line from each look at both clocks to the next.
//!
//! Promises: the same tick is always the same time; a later tick is never an earlier time; how wrong a time may be is known.

use crate::clock::monotonic_ns;
use crate::sys::direct::clock::ticks;

/// Looks that are remembered: at 20 looks a second, the last seconds. Older ticks lie on the oldest line.
const LOOKS: usize = 64;
/// Tries for a look; the quickest is taken.
const TRIES: usize = 5;
/// Bits behind the point of a line's slope: over the 50 ms between two looks they are wrong by less than a tenth of a nanosecond.
const FRACTION: u32 = 32;

/// Both clocks at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// The processor's clock.
    pub ticks: u64,
    /// CLOCK_MONOTONIC, ns.
    pub ns: u64,
    /// The tick may have been as much earlier or later, in ticks.
    pub width: u64,
}

impl Look {
    /// Looks now.
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

/// The line.
#[derive(Debug)]
pub struct Clock {
    looks: [Look; LOOKS],
    /// Of the line that begins at each look: ns per tick, with [`FRACTION`] bits behind the point. Every operator has two times, and a
    /// division for each was a sixth of the agent's time.
    slopes: [u64; LOOKS],
    /// Looks so far, ever.
    count: usize,
    error_ns: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { looks: [Look::default(); LOOKS], slopes: [0; LOOKS], count: 0, error_ns: 0 }
    }
}

impl Clock {
    /// Adds a look. One that is not later than the last in both clocks would bend the line back, and is left out.
    pub fn add(&mut self, look: Look) {
        if self.count > 0 {
            let last = self.looks[(self.count - 1) % LOOKS];
            if look.ticks <= last.ticks || look.ns <= last.ns {
                return;
            }
            let (ticks, ns) = (look.ticks - last.ticks, look.ns - last.ns);
            // Rounded up, and one for what interpolation rounds.
            let width = u128::from(look.width.max(last.width));
            let error = (width * u128::from(ns)).div_ceil(u128::from(ticks)) + 1;
            self.error_ns = self.error_ns.max(u64::try_from(error).unwrap_or(u64::MAX));
            let slope = (u128::from(ns) << FRACTION) / u128::from(ticks);
            self.slopes[(self.count - 1) % LOOKS] = u64::try_from(slope).unwrap_or(u64::MAX);
        }
        self.looks[self.count % LOOKS] = look;
        self.count += 1;
    }

    /// Whether `ticks` lies before the last look.
    #[must_use]
    pub fn covers(&self, ticks: u64) -> bool {
        self.count > 1 && ticks <= self.looks[(self.count - 1) % LOOKS].ticks
    }

    /// The time of a tick, ns; `None` before the second look.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> Option<u64> {
        let oldest = self.count.saturating_sub(LOOKS);
        let last = self.count.checked_sub(2).filter(|last| *last >= oldest)?;
        let at = |n: usize| self.looks[n % LOOKS];
        // Almost always the newest line.
        let line = (oldest..=last).rev().find(|n| at(*n).ticks <= ticks).unwrap_or(oldest);
        let from = at(line);
        let away = i64::try_from(i128::from(ticks) - i128::from(from.ticks)).ok()?;
        // To the nearest. The slope is rounded down, so a line ends no later than the next one begins.
        let ns = i128::from(away) * i128::from(self.slopes[line % LOOKS]) + (1 << (FRACTION - 1));
        u64::try_from((ns >> FRACTION) + i128::from(from.ns)).ok()
    }

    /// How wrong a time may be, ns.
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
    fn times_lie_on_the_lines_between_looks() {
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
        // What would bend the line back is left out.
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
    fn this_machines_clock_is_hit_within_its_error() {
        let mut clock = Clock::default();
        clock.add(Look::now());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let between = Look::now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        clock.add(Look::now());
        let off = clock.ns(between.ticks).unwrap_or(0).abs_diff(between.ns);
        // The kernel's own clock is steered meanwhile, by some parts in a million.
        assert!(off <= 2 * clock.error_ns() + 1000, "{off} ns, error {} ns", clock.error_ns());
    }
}
