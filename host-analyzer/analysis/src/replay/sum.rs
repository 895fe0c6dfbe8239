//! A sum of times, for their mean.

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) times: u64,
    /// ns.
    ns: u64,
    /// ns².
    squares: f64,
}

impl Sum {
    pub(super) fn add(&mut self, ns: u64) {
        self.times += 1;
        self.ns = self.ns.saturating_add(ns);
        self.squares += (ns as f64).powi(2);
    }

    /// Mean, ns; `None` of no times.
    pub(super) const fn mean(self) -> Option<u64> {
        self.ns.checked_div(self.times)
    }

    /// Mean of the times, each weighted by itself, ns: the time around a random moment. `None` of no times.
    pub(super) fn mean_by_time(self) -> Option<f64> {
        (self.ns > 0).then(|| self.squares / self.ns as f64)
    }

    /// Sum of the times less `ns` each, ns.
    pub(super) fn less(self, ns: f64) -> f64 {
        self.ns as f64 - self.times as f64 * ns
    }

    /// Sum of the squares of the times less `ns` each, ns².
    pub(super) fn squares_around(self, ns: f64) -> f64 {
        self.squares - 2.0 * ns * self.ns as f64 + self.times as f64 * ns * ns
    }
}
