//! The cost of operators in a traced decode call, compared with untraced calls around it.

use profinfer_wire::record::controller::Slowdown;

/// Most calls of a burst, or of a pause, that are kept for its median.
const CALLS: usize = 64;
/// Fewest calls of each for a comparison.
const LEAST_CALLS: usize = 3;
/// Most comparisons that are kept.
const PAIRS: usize = 16;
/// Fewest comparisons for an interval.
const LEAST_PAIRS: usize = 5;
/// Two-sided 95 % quantiles of Student's t for 4 and more degrees of freedom, in thousandths, from
/// any table.
const T: [i64; PAIRS - LEAST_PAIRS + 1] =
    [2776, 2571, 2447, 2365, 2306, 2262, 2228, 2201, 2179, 2160, 2145, 2131];

/// Durations of consecutive calls of one kind.
#[derive(Debug, Clone)]
struct Row {
    durations: [u64; CALLS],
    n: usize,
}

impl Default for Row {
    fn default() -> Self {
        Self { durations: [0; CALLS], n: 0 }
    }
}

impl Row {
    fn push(&mut self, ns: u64) {
        if let Some(slot) = self.durations.get_mut(self.n) {
            *slot = ns;
            self.n += 1;
        }
    }

    fn median(&mut self) -> Option<i64> {
        self.durations[..self.n].sort_unstable();
        (self.n >= LEAST_CALLS).then(|| i64::try_from(self.durations[self.n / 2]).unwrap_or(i64::MAX).max(1))
    }
}

/// Comparisons of bursts with the pauses after them.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    traced: Row,
    untraced: Row,
    /// Slowdowns of traced calls in millionths; the newest overwrite the oldest.
    pairs: [i64; PAIRS],
    seen: usize,
}

impl Cost {
    /// Adds a decode call.
    pub(super) fn call(&mut self, duration_ns: u64, traced: bool) {
        if !traced {
            self.untraced.push(duration_ns);
            return;
        }
        if self.untraced.n > 0 {
            // A new burst begins: compare the previous one with the pause after it.
            let both = (self.traced.median(), self.untraced.median());
            (self.traced.n, self.untraced.n) = (0, 0);
            if let (Some(traced), Some(untraced)) = both {
                self.pairs[self.seen % PAIRS] =
                    traced.saturating_sub(untraced).saturating_mul(1_000_000) / untraced;
                self.seen += 1;
            }
        }
        self.traced.push(duration_ns);
    }

    /// Slowdown of all calls at a duty, with the bounds of the 95 % interval. `None` until five
    /// bursts were compared.
    pub(super) fn at(&self, permille: u16) -> Option<Slowdown> {
        let n = self.seen.min(PAIRS);
        if n < LEAST_PAIRS {
            return None;
        }
        let count = i64::try_from(n).ok()?;
        let pairs = || self.pairs[..n].iter().copied();
        let mean = pairs().sum::<i64>() / count;
        let squares: u128 = pairs().map(|p| u128::from((p - mean).unsigned_abs()).pow(2)).sum();
        // Standard error: root of the variance over the number.
        let error = (squares / u128::from((n as u64 - 1) * n as u64)).isqrt();
        let half = i64::try_from(error).ok()?.saturating_mul(T[n - LEAST_PAIRS]) / 1000;
        let of = |ppm: i64| {
            let ppm = ppm.saturating_mul(permille.into()) / 1000;
            i32::try_from(ppm).unwrap_or(if ppm < 0 { i32::MIN } else { i32::MAX })
        };
        Some(Slowdown { low_ppm: of(mean - half), ppm: of(mean), high_ppm: of(mean + half) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of four calls with these durations, and pauses of four calls of 1 ms.
    fn of(bursts: &[u64]) -> Cost {
        let mut cost = Cost::default();
        for burst in bursts {
            (0..4).for_each(|_| cost.call(*burst, true));
            (0..4).for_each(|_| cost.call(1_000_000, false));
        }
        cost.call(1, true);
        cost
    }

    #[test]
    fn the_slowdown_has_an_interval() {
        assert_eq!(of(&[1_100_000; 4]).at(1000), None);
        // Equal slowdowns: no width.
        let exact = of(&[1_100_000; 6]);
        assert_eq!(exact.at(1000), Some(Slowdown { low_ppm: 100_000, ppm: 100_000, high_ppm: 100_000 }));
        assert_eq!(exact.at(100).map(|s| s.ppm), Some(10_000));
        // 90,000 to 110,000 with a deviation of 10,000: 10,000 / √5 · 2.776.
        let wide = of(&[1_090_000, 1_110_000, 1_100_000, 1_090_000, 1_110_000]).at(1000);
        assert_eq!(
            wide,
            Some(Slowdown { low_ppm: 100_000 - 12_414, ppm: 100_000, high_ppm: 100_000 + 12_414 })
        );
        // It may be faster by chance.
        assert_eq!(of(&[990_000; 5]).at(1000).map(|s| s.ppm), Some(-10_000));
        // Only the last sixteen count.
        let after = of(&[[5_000_000; 20], [1_010_000; 20]].concat());
        assert_eq!(after.at(1000).map(|s| s.ppm), Some(10_000));
    }
}
