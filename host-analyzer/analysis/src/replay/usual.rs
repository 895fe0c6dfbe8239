//! What a meeting of threads takes without causes.

/// Time of a meeting without causes, by use, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usual {
    /// Computing; for an operator that all threads share, the mean over the threads.
    pub work: u64,
    /// The last thread computed longer than the mean, or began later.
    pub imbalance: u64,
    /// From the barrier before to the first start.
    pub dispatch: u64,
    pub probes: u64,
}

impl Usual {
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.work.saturating_add(self.imbalance).saturating_add(self.dispatch).saturating_add(self.probes)
    }

    /// The same in at most `limit` ns, and what is beyond. The parts that depend on who came when
    /// are shortened first.
    pub(super) fn at_most(self, limit: u64) -> (Self, u64) {
        let beyond = self.total().saturating_sub(limit);
        let mut left = beyond;
        let mut shorter = self;
        for part in [&mut shorter.imbalance, &mut shorter.dispatch, &mut shorter.work] {
            let taken = left.min(*part);
            *part -= taken;
            left -= taken;
        }
        (shorter, beyond - left)
    }

    pub(super) const fn add(&mut self, other: &Self) {
        self.work = self.work.saturating_add(other.work);
        self.imbalance = self.imbalance.saturating_add(other.imbalance);
        self.dispatch = self.dispatch.saturating_add(other.dispatch);
        self.probes = self.probes.saturating_add(other.probes);
    }
}

/// Time that the probes of an operator take, ns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProbeCosts {
    /// Within the operator's time.
    pub(super) inside: u64,
    /// Between it and the next one.
    pub(super) outside: u64,
}

/// Splits an undisturbed time; `work` includes the probes inside.
pub(super) fn usual(time: u64, gap: u64, work: u64, costs: ProbeCosts) -> Usual {
    let gap = gap.min(time);
    let work = work.min(time - gap);
    let (outside, inside) = (costs.outside.min(gap), costs.inside.min(work));
    Usual {
        work: work - inside,
        imbalance: time - gap - work,
        dispatch: gap - outside,
        probes: outside + inside,
    }
}
