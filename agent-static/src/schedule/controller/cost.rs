//! The cost of operators in a traced decode call: first predicted, then compared with untraced
//! calls around it.

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

    fn median(&self) -> Option<i64> {
        self.part(2)
    }

    /// Sum of the durations, ns.
    fn sum(&self) -> i64 {
        self.durations[..self.n]
            .iter()
            .fold(0, |sum, ns| sum.saturating_add(i64::try_from(*ns).unwrap_or(i64::MAX)))
    }

    /// The duration that one of `n` calls is below: the median for 2.
    fn part(&self, n: usize) -> Option<i64> {
        let mut sorted = self.durations;
        sorted[..self.n].sort_unstable();
        (self.n >= LEAST_CALLS).then(|| i64::try_from(sorted[self.n / n]).unwrap_or(i64::MAX).max(1))
    }
}

/// Slowdown of a traced call, millionths, predicted from the cost of a pair of probes, the pairs
/// that each thread passes in a call, and the time of the traced call.
fn predicted(pair_ns: u64, operators: u32, call_ns: i64) -> Option<i64> {
    let probes = i64::try_from(pair_ns.saturating_mul(operators.into())).unwrap_or(i64::MAX);
    // More than the call took: the pair was cheaper than measured.
    let without = call_ns.saturating_sub(probes).max(call_ns / 16).max(1);
    (probes > 0).then(|| probes.saturating_mul(1_000_000) / without)
}

/// Comparisons of bursts with the pauses after them.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    /// Cost of a pair of probes, if measured, ns.
    pair_ns: Option<u64>,
    /// Operators of the last traced call.
    operators: u32,
    traced: Row,
    untraced: Row,
    /// CPU time that the agent had used at the first call of the burst, and at the last call of the
    /// pause after it that is kept, ns.
    agent_ns: (u64, u64),
    /// Slowdowns of traced calls in millionths; the newest overwrite the oldest.
    pairs: [i64; PAIRS],
    seen: usize,
    /// Sum over the first bursts of [`Self::of_burst`], and their number.
    first: (i64, i64),
}

impl Cost {
    pub(super) fn new(pair_ns: Option<u64>) -> Self {
        Self { pair_ns, ..Self::default() }
    }

    /// Adds a decode call. `operators`: of a traced call, `None` for an untraced one. `agent_ns`: CPU
    /// time that the agent has used.
    pub(super) fn call(&mut self, duration_ns: u64, operators: Option<u32>, agent_ns: u64) {
        let Some(operators) = operators else {
            // No more than the burst had: later calls have a longer context.
            if self.untraced.n < self.traced.n.max(LEAST_CALLS) {
                self.untraced.push(duration_ns);
                self.agent_ns.1 = agent_ns;
            }
            return;
        };
        self.operators = operators;
        if self.untraced.n > 0 {
            // A new burst begins: compare the previous one with the pause after it.
            let both = (self.traced.median(), self.untraced.median());
            if let (Some(traced), Some(untraced)) = both {
                self.pairs[self.seen % PAIRS] = self.compared(traced, untraced);
                self.seen += 1;
            }
            if let Some(ppm) = self.of_burst() {
                self.first = (self.first.0.saturating_add(ppm), self.first.1 + 1);
            }
            (self.traced.n, self.untraced.n) = (0, 0);
        }
        if self.traced.n == 0 {
            self.agent_ns = (agent_ns, agent_ns);
        }
        self.traced.push(duration_ns);
    }

    /// Slowdown of the calls of this burst, with what the agent takes, millionths.
    fn compared(&self, traced_ns: i64, untraced_ns: i64) -> i64 {
        slowdown(traced_ns.saturating_add(self.reading()), untraced_ns)
    }

    /// CPU time of the agent per call of this burst, ns: it inserts and removes the probes, and reads
    /// what they recorded, mostly in the pause after it. An engine on all CPUs waits for that as long,
    /// because its threads meet after each operator. An engine that leaves a CPU free pays less.
    fn reading(&self) -> i64 {
        let (from, to) = self.agent_ns;
        let calls = u64::try_from(self.traced.n).unwrap_or(u64::MAX).max(1);
        i64::try_from(to.saturating_sub(from) / calls).unwrap_or(i64::MAX)
    }

    /// Slowdown of the traced calls if they bear all that the burst costs, millionths: the time of its
    /// calls and of as many after it, beyond the median of the calls after it. While the
    /// kernel removes the probes, a worker of it spins (from Linux 6.13 on), and the agent reads: that
    /// makes a few calls much longer, which medians do not show. Other tasks make some calls longer, too,
    /// so the result is rather too high.
    fn of_burst(&self) -> Option<i64> {
        let usual = self.untraced.median()?;
        let calls = |n: usize| i64::try_from(n).unwrap_or(i64::MAX).saturating_mul(usual);
        let all = self.traced.sum().saturating_add(self.untraced.sum());
        let excess = all.saturating_sub(calls(self.traced.n + self.untraced.n));
        (self.traced.n >= LEAST_CALLS).then(|| excess.saturating_mul(1_000_000) / calls(self.traced.n).max(1))
    }

    /// Slowdown of a traced call, millionths, while too few bursts were compared for an interval:
    /// the larger one of the prediction and the mean of the bursts. In an engine a pair of probes may
    /// cost twice as much as in a loop, and few bursts may show too little by chance. `None` if
    /// nothing is known yet, and once there is an interval.
    pub(super) fn at_first(&self) -> Option<i64> {
        if self.seen >= LEAST_PAIRS {
            return None;
        }
        // A quartile: other tasks only make calls longer, and few calls have no stable median.
        let traced = self.traced.part(4);
        let predicted = predicted(self.pair_ns.unwrap_or(0), self.operators, traced.unwrap_or(0));
        let (sum, n) =
            self.of_burst().map_or(self.first, |ppm| (self.first.0.saturating_add(ppm), self.first.1 + 1));
        predicted.filter(|_| traced.is_some()).max(sum.checked_div(n))
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

/// Millionths.
fn slowdown(traced_ns: i64, untraced_ns: i64) -> i64 {
    traced_ns.saturating_sub(untraced_ns).saturating_mul(1_000_000) / untraced_ns.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of four calls with these durations, and pauses of four calls of 1 ms.
    fn of(bursts: &[u64]) -> Cost {
        let mut cost = Cost::default();
        for burst in bursts {
            (0..4).for_each(|_| cost.call(*burst, Some(500), 0));
            (0..4).for_each(|_| cost.call(1_000_000, None, 0));
        }
        cost.call(1, Some(500), 0);
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

    #[test]
    fn the_agent_is_part_of_the_slowdown() {
        let mut cost = Cost::default();
        // 2 ms for each call of a burst, in the burst and in as many calls after it. What it uses
        // later is not for the burst.
        let mut agent = 70_000_000;
        for _ in 0..6 {
            (0..4).for_each(|_| cost.call(11_000_000, Some(515), agent));
            agent += 5_000_000;
            (0..3).for_each(|_| cost.call(10_000_000, None, agent));
            agent += 3_000_000;
            cost.call(10_000_000, None, agent);
            agent += 90_000_000;
            (0..20).for_each(|_| cost.call(10_000_000, None, agent));
            // Before there is an interval, the times of the calls count, in which the engine waits for the agent.
            assert!(cost.at_first().is_none_or(|ppm| ppm == 100_000));
        }
        assert_eq!(cost.at(1000).map(|s| s.ppm), Some(300_000));
    }

    #[test]
    fn the_first_slowdown_is_predicted_then_compared() {
        // SmolLM2: 515 operators, 1.1 us per pair, calls of 5.5 ms: 0.57 of 4.93 ms.
        assert_eq!(predicted(1_100, 515, 5_500_000), Some(114_827));
        // Nearly all of the call, and more than it took.
        assert_eq!(predicted(10_000, 515, 5_500_000), Some(14_714_285));
        assert_eq!(predicted(20_000, 515, 5_500_000), Some(29_963_636));
        assert_eq!(predicted(0, 515, 5_500_000), None);
        let mut cost = Cost::new(Some(1_100));
        (0..2).for_each(|_| cost.call(5_500_000, Some(515), 0));
        assert_eq!(cost.at_first(), None);
        (0..6).for_each(|_| cost.call(5_500_000, Some(515), 0));
        assert_eq!(cost.at_first(), Some(114_827));
        // The untraced calls show more; fewer than three show nothing.
        (0..2).for_each(|_| cost.call(4_400_000, None, 0));
        assert_eq!(cost.at_first(), Some(114_827));
        (0..2).for_each(|_| cost.call(4_400_000, None, 0));
        assert_eq!(cost.at_first(), Some(250_000));
        // The mean of two bursts. Calls beyond the length of a burst have a longer context.
        (0..4).for_each(|_| cost.call(4_400_000, None, 0));
        (0..90).for_each(|_| cost.call(4_900_000, None, 0));
        (0..8).for_each(|_| cost.call(5_500_000, Some(515), 0));
        (0..8).for_each(|_| cost.call(5_000_000, None, 0));
        assert_eq!(cost.at_first(), Some((250_000 + 100_000) / 2));
        // A call that is longer while the probes are removed is a cost of the burst: 8 · 1.1 and 5 ms of 8 · 4.4.
        let mut removal = Cost::new(Some(1_100));
        (0..8).for_each(|_| removal.call(5_500_000, Some(515), 0));
        [4_400_000, 9_400_000].iter().for_each(|ns| removal.call(*ns, None, 0));
        (0..6).for_each(|_| removal.call(4_400_000, None, 0));
        assert_eq!(removal.at_first(), Some(392_045));
        // With five there is an interval.
        assert_eq!(of(&[1_100_000; 5]).at_first(), None);
        assert!(of(&[1_100_000; 4]).at_first().is_some());
    }
}
