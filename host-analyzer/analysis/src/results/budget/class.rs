//! The classes of the budget, and sums by class.

/// What a stretch of a thread's time went to. Every nanosecond is in exactly one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Computing operators.
    Work,
    /// Operators together with the waits behind them, of a recording without the ends of operators.
    WorkAndWait,
    /// Waiting at the barrier for the last arriver, which had been preempted.
    WaitPreempted,
    /// The same; its cgroup's quota was used up, or a hypervisor had the CPU.
    WaitThrottled,
    /// The same; an interrupt ran on its CPU.
    WaitInterrupted,
    /// The same; it slept inside the operator, for example because a page was read from disk, or was stopped before it.
    WaitBlocked,
    /// The same; it began the operator late, for example because it had to wake up.
    WaitStartedLate,
    /// The same; its core is slower than those of the others.
    WaitSlowerCore,
    /// The same; it is the last one at this operator nearly always, so it has more to do.
    WaitMoreRows,
    /// The same; why it was late is not seen.
    WaitUneven,
    /// Waiting while one thread computes an operator that has no work for others.
    WaitOneThread,
    /// Ready to run without a CPU: another task had it.
    Preempted,
    /// Ready to run, and the CPU was idle or not there: a quota was used up, or a hypervisor had it.
    Throttled,
    /// Woken, and the CPU on its way out of idleness: nobody had it.
    Waking,
    /// Interrupts ran on its CPU.
    Interrupted,
    /// Asleep where it should compute: a page was read from disk, a lock, a signal.
    Blocked,
    /// From the release of a barrier to the start of the next operator, and at the edges of a graph: leaving the
    /// barrier, passing over views, dispatch.
    BetweenOperators,
    /// In the token call and in no backend's graph: building and allocating the graph, inputs, copies of outputs.
    GraphPreparation,
    /// Between two token calls: sampling and the application, its sleep included. The engine's own report calls most of it unaccounted.
    Application,
    /// In the graph of a backend other than the CPU's: outside of operators that were seen, and asleep in those, as the device computes.
    OtherBackend,
    /// What the probes of operators take, as measured on this machine.
    Probes,
    /// In graphs, where operators were not captured, as the duty cycle, the controller or a filter had it.
    NotTraced,
    /// Not known: spans were lost, or the level was not recorded.
    Unknown,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 23] = [
        Self::Work,
        Self::WorkAndWait,
        Self::WaitPreempted,
        Self::WaitThrottled,
        Self::WaitInterrupted,
        Self::WaitBlocked,
        Self::WaitStartedLate,
        Self::WaitSlowerCore,
        Self::WaitMoreRows,
        Self::WaitUneven,
        Self::WaitOneThread,
        Self::Preempted,
        Self::Throttled,
        Self::Waking,
        Self::Interrupted,
        Self::Blocked,
        Self::BetweenOperators,
        Self::GraphPreparation,
        Self::Application,
        Self::OtherBackend,
        Self::Probes,
        Self::NotTraced,
        Self::Unknown,
    ];

    /// Key in summary.json.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::WorkAndWait => "work_and_wait",
            Self::WaitPreempted => "wait_preempted",
            Self::WaitThrottled => "wait_throttled",
            Self::WaitInterrupted => "wait_interrupted",
            Self::WaitBlocked => "wait_blocked",
            Self::WaitStartedLate => "wait_started_late",
            Self::WaitSlowerCore => "wait_slower_core",
            Self::WaitMoreRows => "wait_more_rows",
            Self::WaitUneven => "wait_uneven",
            Self::WaitOneThread => "wait_one_thread",
            Self::Preempted => "preempted",
            Self::Throttled => "throttled",
            Self::Waking => "waking",
            Self::Interrupted => "interrupted",
            Self::Blocked => "blocked",
            Self::BetweenOperators => "between_operators",
            Self::GraphPreparation => "graph_preparation",
            Self::Application => "application",
            Self::OtherBackend => "other_backend",
            Self::Probes => "probes",
            Self::NotTraced => "not_traced",
            Self::Unknown => "unknown",
        }
    }

    /// Outside of the backends' graphs, so that it is known of every token, traced or not.
    #[must_use]
    pub const fn outside_of_graphs(self) -> bool {
        matches!(self, Self::GraphPreparation | Self::Application)
    }

    /// Others had the CPU of a thread, or of the thread that was waited for.
    #[must_use]
    pub const fn is_disturbed(self) -> bool {
        matches!(
            self,
            Self::Preempted
                | Self::Throttled
                | Self::Interrupted
                | Self::WaitPreempted
                | Self::WaitThrottled
                | Self::WaitInterrupted
        )
    }

    /// Waiting at the barrier, for whatever cause.
    #[must_use]
    pub const fn is_wait(self) -> bool {
        (self as usize) >= Self::WaitPreempted as usize && (self as usize) <= Self::WaitOneThread as usize
    }
}

/// Time by class, ns, in the order of [`Class::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts([u64; Class::ALL.len()]);

impl Parts {
    /// Time of one class, ns.
    #[must_use]
    pub const fn get(&self, class: Class) -> u64 {
        self.0[class as usize]
    }

    /// Classes that have any time.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> + '_ {
        Class::ALL.into_iter().map(|class| (class, self.get(class))).filter(|(_, ns)| *ns > 0)
    }

    /// All classes together, ns.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// The classes of waiting together, ns.
    #[must_use]
    pub fn wait(&self) -> u64 {
        self.iter().filter(|(class, _)| class.is_wait()).fold(0, |sum, (_, ns)| sum.saturating_add(ns))
    }

    #[inline]
    pub(super) fn add(&mut self, class: Class, ns: u64) {
        let sum = &mut self.0[class as usize];
        *sum = sum.saturating_add(ns);
    }

    /// So much more time, to be given.
    #[inline]
    pub(super) const fn stretch(&mut self, left: u64) -> Stretch<'_> {
        Stretch { parts: self, left }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        other.iter().for_each(|(class, ns)| self.add(class, ns));
    }
}

/// Gives the time of one thread, from a start to an end, to classes. By construction the sum of what it gave is the time that
/// passed, whatever times come in whatever order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allocation {
    at: u64,
    end: u64,
    pub(super) parts: Parts,
}

impl Allocation {
    pub(super) const fn new(start: u64, end: u64) -> Self {
        Self { at: start, end, parts: Parts([0; Class::ALL.len()]) }
    }

    /// Up to where time was given.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Up to where time is given.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// The time up to `t`, to be given to those that claim some of it.
    #[inline]
    pub(super) fn stretch(&mut self, t: u64) -> Stretch<'_> {
        let t = t.min(self.end);
        let left = t.saturating_sub(self.at);
        self.at = self.at.max(t);
        Stretch { parts: &mut self.parts, left }
    }

    /// Gives the time up to `t` to one class.
    #[inline]
    pub(super) fn until(&mut self, t: u64, class: Class) {
        self.stretch(t).rest(class);
    }

    /// Gives the time up to `t` as another thread's was given, if it is as long; otherwise it is unknown.
    pub(super) fn copy(&mut self, t: u64, parts: &Parts) {
        if t <= self.end && parts.total() == t.saturating_sub(self.at) {
            self.at = self.at.max(t);
            self.parts.add_all(parts);
        } else {
            self.until(t, Class::Unknown);
        }
    }

    /// Gives the rest of the time to one class.
    pub(super) fn finish(mut self, rest: Class) -> Parts {
        self.until(self.end, rest);
        self.parts
    }
}

/// A stretch of time of which some is not given yet.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    parts: &'a mut Parts,
    left: u64,
}

impl Stretch<'_> {
    /// Gives a class what it claims, as long as there is any left.
    #[inline]
    pub(super) fn give(&mut self, class: Class, claim: u64) {
        // Without a branch, as nobody can foresee how long a thread takes.
        let ns = self.left.min(claim);
        self.add(class, ns);
        self.left -= ns;
    }

    /// The same for several claims.
    #[inline]
    pub(super) fn give_all(&mut self, claims: impl IntoIterator<Item = (Class, u64)>) {
        claims.into_iter().for_each(|(class, claim)| self.give(class, claim));
    }

    /// What nobody claimed yet, ns.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Gives the rest to one class. Returns how much that was, ns.
    #[inline]
    pub(super) fn rest(mut self, class: Class) -> u64 {
        let left = self.left;
        self.add(class, left);
        left
    }

    /// It cannot overflow: all that a [`Allocation`] gives is not longer than the time that it fills.
    #[inline]
    const fn add(&mut self, class: Class, ns: u64) {
        self.parts.0[class as usize] += ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_all() {
        assert!(Class::ALL.iter().enumerate().all(|(i, c)| *c as usize == i));
    }

    #[test]
    fn what_is_given_is_the_time_that_passed() {
        let mut fill = Allocation::new(100, 200);
        let mut until = |t, some: &[(Class, u64)]| {
            let mut stretch = fill.stretch(t);
            stretch.give_all(some.iter().copied());
            stretch.rest(Class::Work)
        };
        assert_eq!(until(150, &[(Class::Probes, 10), (Class::Preempted, 100)]), 0);
        // Going back gives nothing, going beyond the end no more than there is.
        assert_eq!(until(120, &[(Class::Probes, 10)]), 0);
        assert_eq!(until(170, &[(Class::Probes, 5)]), 15);
        let parts = fill.finish(Class::Unknown);
        assert_eq!(parts.total(), 100);
        assert_eq!(parts.get(Class::Probes), 15);
        assert_eq!(parts.get(Class::Preempted), 40);
        assert_eq!(parts.get(Class::Unknown), 30);
    }
}
