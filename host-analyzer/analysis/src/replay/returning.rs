//! A thread that comes back to a CPU computes slower at first: its data and the barrier's are in other
//! caches. That is due to what took it from the CPU.
//!
//! How much is learnt from the recording: by class, the mean time of threads that were off the CPU right
//! before they began, less that of threads that stayed on it; and, of all classes together since these are
//! few, the same of threads that were off the CPU while they computed. A mean of each, because a single
//! thread may be slow or fast by chance.

use super::SEEN;
use super::sum::Sum;

/// Fewest times of each kind.
const FEWEST: u64 = 5;

/// When a thread was off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    None,
    /// Right before the operator.
    Before,
    /// In the operator.
    Inside,
}

/// Times on the CPU of the operators of one class.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    stayed: Sum,
    returned: Sum,
    resumed: Sum,
}

/// How much longer a thread computes after it came back to a CPU, ns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReturningTimes {
    /// It was off the CPU right before: by class.
    before: Vec<u64>,
    /// It was off the CPU in the operator.
    pub(super) inside: u64,
}

impl ReturningTimes {
    pub(super) fn before(&self, class: usize) -> u64 {
        self.before.get(class).copied().unwrap_or(0)
    }
}

/// By class.
#[derive(Debug)]
pub(super) struct Returning(Vec<Seen>);

impl Returning {
    pub(super) fn new(classes: usize) -> Self {
        Self(vec![Seen::default(); classes])
    }

    /// Adds a thread that computed for `ns`.
    pub(super) fn add(&mut self, class: usize, absence: Absence, ns: u64) {
        let Some(seen) = self.0.get_mut(class) else { return };
        match absence {
            Absence::None => seen.stayed.add(ns),
            Absence::Before => seen.returned.add(ns),
            Absence::Inside => seen.resumed.add(ns),
        }
    }

    pub(super) fn times(&self) -> ReturningTimes {
        let mean = |sum: Sum| sum.mean().filter(|_| sum.times >= FEWEST);
        let of = |seen: &Seen| {
            let means = mean(seen.returned).zip(mean(seen.stayed));
            means.map_or(0, |(returned, stayed)| returned.saturating_sub(stayed))
        };
        ReturningTimes { before: self.0.iter().map(of).collect(), inside: self.inside() }
    }

    /// Long operators are the likelier to lose their CPU. So they are compared with the mean of those that did
    /// not, weighted by their time.
    fn inside(&self) -> u64 {
        let (mut times, mut longer, mut squares) = (0_u64, 0.0, 0.0);
        for Seen { stayed, resumed, .. } in &self.0 {
            let Some(usual) = stayed.mean_by_time().filter(|_| stayed.times >= FEWEST) else { continue };
            times += resumed.times;
            longer += resumed.less(usual);
            squares += resumed.squares_around(usual);
        }
        if times < FEWEST {
            return 0;
        }
        let n = times as f64;
        let mean = longer / n;
        let error = ((squares / n - mean * mean).max(0.0) / n).sqrt();
        if mean > SEEN * error { mean as u64 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_the_means_of_enough_times() {
        let mut returning = Returning::new(2);
        for i in 0..FEWEST {
            returning.add(0, Absence::Before, 1_500 + 100 * (i % 2));
            assert_eq!(returning.times().before, [0, 0]);
            returning.add(0, Absence::None, 1_000);
            returning.add(1, Absence::Before, 700);
            returning.add(1, Absence::None, 900);
        }
        // Class 1 is faster after a return: no delay.
        assert_eq!(returning.times(), ReturningTimes { before: vec![540, 0], inside: 0 });
        returning.add(7, Absence::Before, 1);
    }

    #[test]
    fn inside_operators_of_all_classes_together() {
        let mut returning = Returning::new(3);
        for i in 0..FEWEST {
            returning.add(0, Absence::None, 1_000);
            returning.add(1, Absence::None, 2_000);
            let resumed = if i % 2 == 0 { (0, 1_400) } else { (1, 2_500) };
            assert_eq!(returning.times().inside, 0);
            returning.add(resumed.0, Absence::Inside, resumed.1);
            // Nothing is known of a class whose threads were never undisturbed.
            returning.add(2, Absence::Inside, 9_000);
        }
        assert_eq!(returning.times().inside, 440);
    }

    #[test]
    fn long_operators_lose_their_cpu_more_often() {
        let mut returning = Returning::new(1);
        // Each takes 1 or 3 ms. Of those that lose their CPU, three of four take 3 ms.
        for i in 0..400_u64 {
            returning.add(0, Absence::None, if i % 2 == 0 { 1_000_000 } else { 3_000_000 });
            returning.add(0, Absence::Inside, if i % 4 == 0 { 1_000_000 } else { 3_000_000 });
        }
        assert_eq!(returning.times().inside, 0);
        (0..800).for_each(|_| returning.add(0, Absence::Inside, 3_500_000));
        assert!(returning.times().inside > 500_000);
    }
}
