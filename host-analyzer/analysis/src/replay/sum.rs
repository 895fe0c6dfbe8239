//! A sum of times, for their mean.

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) times: u64,
    /// ns.
    ns: u64,
}

impl Sum {
    pub(super) const fn add(&mut self, ns: u64) {
        self.times += 1;
        self.ns = self.ns.saturating_add(ns);
    }

    /// Mean, ns; `None` of no times.
    pub(super) const fn mean(self) -> Option<u64> {
        self.ns.checked_div(self.times)
    }
}
