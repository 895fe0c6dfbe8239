//! A thread that comes back to a CPU computes slower at first: its data and the barrier's are in other
//! caches. That is due to what took it from the CPU.
//!
//! How much is learnt from the recording, by class: the mean time of threads that were off the CPU right
//! before they began, less that of threads that stayed on it. A mean of each, because a single thread may
//! be slow or fast by chance.

use super::sum::Sum;

/// Fewest times of each kind.
const FEWEST: u64 = 5;

/// Times on the CPU of the operators of one class.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    stayed: Sum,
    returned: Sum,
}

/// By class.
#[derive(Debug)]
pub(super) struct Returning(Vec<Seen>);

impl Returning {
    pub(super) fn new(classes: usize) -> Self {
        Self(vec![Seen::default(); classes])
    }

    /// Adds a thread that computed for `ns` without losing its CPU; `returned`: it was off the CPU right
    /// before.
    pub(super) fn add(&mut self, class: usize, returned: bool, ns: u64) {
        if let Some(seen) = self.0.get_mut(class) {
            if returned { seen.returned.add(ns) } else { seen.stayed.add(ns) }
        }
    }

    /// How much longer a thread computes after it came back, by class, ns.
    pub(super) fn longer(&self) -> Vec<u64> {
        let mean = |sum: Sum| sum.mean().filter(|_| sum.times >= FEWEST);
        let of = |seen: &Seen| {
            let means = mean(seen.returned).zip(mean(seen.stayed));
            means.map_or(0, |(returned, stayed)| returned.saturating_sub(stayed))
        };
        self.0.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_the_means_of_enough_times() {
        let mut returning = Returning::new(2);
        for i in 0..FEWEST {
            returning.add(0, true, 1_500 + 100 * (i % 2));
            assert_eq!(returning.longer(), [0, 0]);
            returning.add(0, false, 1_000);
            returning.add(1, true, 700);
            returning.add(1, false, 900);
        }
        // Class 1 is faster after a return: no delay.
        assert_eq!(returning.longer(), [540, 0]);
        returning.add(7, true, 1);
    }
}
