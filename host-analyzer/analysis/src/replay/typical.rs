//! Typical times of each class of operators, to see what is out of the ordinary.
//!
//! A delay that the scheduler level does not show (a hypervisor, firmware, a level that was not
//! recorded) makes single instances many times longer than the others. That is no work.

use super::class::{ClassId, Classes};

/// Buckets per factor of two.
const PER_DOUBLING: u32 = 4;
const BUCKETS: usize = 64 * PER_DOUBLING as usize;

/// Counts by size of a time: the width of a bucket is a fourth of a factor of two.
#[derive(Debug, Clone)]
struct Histogram(Box<[u32; BUCKETS]>);

impl Default for Histogram {
    fn default() -> Self {
        Self(Box::new([0; BUCKETS]))
    }
}

impl Histogram {
    fn add(&mut self, ns: u64) {
        let count = &mut self.0[bucket(ns)];
        *count = count.saturating_add(1);
    }

    /// The time that one of `n` is below, the median for 2; `None` of too few times.
    fn below(&self, n: u32) -> Option<u64> {
        let all: u32 = self.0.iter().fold(0, |sum, n| sum.saturating_add(*n));
        if all < FEWEST {
            return None;
        }
        let mut below = 0_u32;
        let at = self.0.iter().position(|count| {
            below = below.saturating_add(*count);
            below > all / n
        });
        at.map(upper_end)
    }

    /// The mean of the times that are not out of the ordinary.
    fn usual(&self) -> Option<u64> {
        let limit = self.below(2)?.saturating_mul(FACTOR);
        let (mut sum, mut n) = (0_u64, 0_u64);
        for (at, count) in self.0.iter().enumerate().filter(|(at, _)| upper_end(*at) <= limit) {
            // The middle of the bucket: its width is at most a fifth of its upper end.
            let middle = upper_end(at) - upper_end(at) / 10;
            sum = sum.saturating_add(middle.saturating_mul(u64::from(*count)));
            n += u64::from(*count);
        }
        sum.checked_div(n)
    }
}

/// An instance is out of the ordinary if it takes this many times the median, and this much more,
/// ns: a time slice of the scheduler and a page fault are longer.
const FACTOR: u64 = 4;
const MORE_NS: u64 = 50_000;

/// Fewest instances of a class whose median is used.
const FEWEST: u32 = 5;

fn bucket(ns: u64) -> usize {
    let ns = ns.max(1);
    let doubling = ns.ilog2();
    // The two bits after the highest one.
    let part = if doubling < 2 { 0 } else { (ns >> (doubling - 2)) & 3 };
    (doubling * PER_DOUBLING) as usize + part as usize
}

/// The upper end of a bucket, ns.
fn upper_end(bucket: usize) -> u64 {
    let (doubling, part) = (bucket as u32 / PER_DOUBLING, bucket as u64 % u64::from(PER_DOUBLING));
    let low = 1_u64 << doubling;
    // The smallest numbers have no fourths.
    if doubling < 2 { low * 2 } else { low.saturating_add((low / 4).saturating_mul(part + 1)) }
}

/// Usual times of a class, ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typical {
    /// Median.
    pub(super) ns: u64,
    /// Longer times are out of the ordinary.
    pub(super) limit: u64,
}

impl Default for Typical {
    /// Of too few instances: nothing is out of the ordinary.
    fn default() -> Self {
        Self { ns: u64::MAX, limit: u64::MAX }
    }
}

/// Times seen so far, by class.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<Option<Histogram>>);

impl Seen {
    pub(super) fn new(classes: &Classes) -> Self {
        Self(vec![None; classes.len()])
    }

    pub(super) fn add(&mut self, class: ClassId, ns: u64) {
        if let Some(row) = self.0.get_mut(class.0 as usize) {
            row.get_or_insert_default().add(ns);
        }
    }

    /// What is usual, by class.
    pub(super) fn typical(&self) -> Vec<Typical> {
        let of = |row: &Option<Histogram>| {
            let median = row.as_ref().and_then(|h| h.below(2));
            median.map_or(Typical::default(), |ns| Typical {
                ns,
                limit: ns.saturating_mul(FACTOR).max(ns.saturating_add(MORE_NS)),
            })
        };
        self.0.iter().map(of).collect()
    }
}

/// Times between the opening of a barrier and the first start after it.
#[derive(Debug, Default)]
pub(super) struct Openings {
    undisturbed: Histogram,
    all: Histogram,
}

/// Time that a spinning barrier and the dispatch of the next operator take at least, ns: 0.4 to 2 us on
/// the machines that were measured. Used where threads sleep in all meetings, so that the undisturbed time
/// is not visible. The least, because it is the fast machines whose operators are as short.
const SPINNING_NS: u64 = 400;

/// One in this many meetings has all its threads awake. Measured with more threads than CPUs: the fastest
/// hundredth takes as long as the median of a recording without sleep.
const FASTEST: u32 = 100;

impl Openings {
    pub(super) fn add(&mut self, ns: u64, disturbed: bool) {
        self.all.add(ns);
        if !disturbed {
            self.undisturbed.add(ns);
        }
    }

    /// What a spinning barrier and the dispatch of the next operator take, with the probes between
    /// operators, ns: the mean of the undisturbed times that are not out of the ordinary. Where there are
    /// too few, the fastest of all times, and not more than is known of other machines. `probes`: time of
    /// the probes between operators.
    pub(super) fn usual(&self, probes: u64) -> u64 {
        let others = SPINNING_NS.saturating_add(probes);
        self.undisturbed.usual().unwrap_or_else(|| self.all.below(FASTEST).unwrap_or(u64::MAX).min(others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_above_its_times() {
        for ns in [1, 2, 3, 4, 5, 7, 8, 1_000, 1_023, 1_024, 123_456_789, u64::MAX / 3] {
            let at = bucket(ns);
            assert!(upper_end(at) >= ns, "{ns}");
            assert!(at == 0 || ns < 4 || upper_end(at - 1) <= ns, "{ns}");
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn openings_are_a_mean_without_what_is_out_of_the_ordinary() {
        let mut openings = Openings::default();
        (0..200).for_each(|_| openings.add(9_000, true));
        // None is undisturbed: the least that is known.
        assert_eq!(openings.usual(1_200), 1_600);
        (0..4).for_each(|_| openings.add(500, true));
        assert!((500..=600).contains(&openings.usual(1_200)), "{}", openings.usual(1_200));
        (0..4).for_each(|_| openings.add(500, false));
        (0..4).for_each(|_| openings.add(1_000, false));
        openings.add(3_000_000, false);
        // Half a bucket is a tenth.
        assert!(openings.usual(1_200).abs_diff(750) <= 75, "{}", openings.usual(1_200));
    }

    #[test]
    fn the_limit_is_far_above_the_median() {
        let mut seen = Seen(vec![None; 2]);
        [1_000_000, 1_000_000, 1_000_000, 90_000_000, 1_000_000]
            .iter()
            .for_each(|ns| seen.add(ClassId(0), *ns));
        seen.add(ClassId(1), 7);
        let typical = seen.typical();
        assert!((4_000_000..5_000_000).contains(&typical[0].limit), "{typical:?}");
        assert!((1_000_000..1_250_000).contains(&typical[0].ns), "{typical:?}");
        assert_eq!(typical[1].limit, u64::MAX);
    }
}
