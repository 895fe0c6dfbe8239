//! The classes of the budget, and sums by class.

/// Use of a stretch of a thread's time. Every nanosecond is in exactly one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Computing operators.
    Work,
    /// Operators with the waits after them, in a recording without end probes.
    WorkAndWait,
    /// Waiting at the barrier for the last arriver, which had been preempted.
    WaitPreempted,
    /// Waiting at the barrier: the last arriver's cgroup had used up its quota, or a hypervisor had
    /// the CPU.
    WaitThrottled,
    /// Waiting at the barrier: an interrupt ran on the last arriver's CPU.
    WaitInterrupted,
    /// Waiting at the barrier: the last arriver slept inside the operator, for example to read a
    /// page from disk, or was stopped before it.
    WaitBlocked,
    /// Waiting at the barrier: the last arriver began the operator late, for example because it had
    /// to wake up.
    WaitStartedLate,
    /// Waiting at the barrier: the last arriver's core is slower than the others.
    WaitSlowerCore,
    /// Waiting at the barrier: the same thread is nearly always last at this operator, so it has
    /// more work.
    WaitMoreRows,
    /// Waiting at the barrier: the cause of the lateness is not visible.
    WaitUneven,
    /// Waiting while one thread computes an operator that has no work for others.
    WaitOneThread,
    /// Runnable without a CPU: another task had it.
    Preempted,
    /// Runnable, and the CPU was idle or absent: a quota was used up, or a hypervisor had the CPU.
    Throttled,
    /// Woken, while the CPU was leaving an idle state: no task had it.
    Waking,
    /// Interrupts ran on its CPU.
    Interrupted,
    /// Asleep where it should compute: a page read from disk, a lock, a signal.
    Blocked,
    /// From the release of a barrier to the start of the next operator, and at both ends of a
    /// graph: leaving the barrier, skipping views, dispatch.
    BetweenOperators,
    /// In the `llama_decode` call but in no backend's graph: building and allocating the graph,
    /// inputs, copies of outputs.
    GraphPreparation,
    /// Between two `llama_decode` calls: sampling and the application, including its sleep. The
    /// engine's own report calls most of it unaccounted.
    Application,
    /// In the graph of a backend other than the CPU's: outside of recorded operators, and asleep in
    /// those while the device computes.
    OtherBackend,
    /// Time that the operator probes take, as measured on this machine.
    Probes,
    /// In graphs, where the duty cycle, the controller or a filter excluded operators.
    NotTraced,
    /// Unknown: spans were lost, or the level was not recorded.
    Unknown,
}

impl Class {
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

    /// Outside of the backends' graphs, so it is known for every token, traced or not.
    #[must_use]
    pub const fn outside_of_graphs(self) -> bool {
        matches!(self, Self::GraphPreparation | Self::Application)
    }

    /// Waiting at the barrier, for any cause.
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

    /// Classes with any time.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> + '_ {
        Class::ALL.into_iter().map(|class| (class, self.get(class))).filter(|(_, ns)| *ns > 0)
    }

    /// Sum of all classes, ns.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// Sum of the waiting classes, ns.
    #[must_use]
    pub fn wait(&self) -> u64 {
        self.iter().filter(|(class, _)| class.is_wait()).fold(0, |sum, (_, ns)| sum.saturating_add(ns))
    }

    #[inline]
    pub(super) fn add(&mut self, class: Class, ns: u64) {
        let sum = &mut self.0[class as usize];
        *sum = sum.saturating_add(ns);
    }

    /// `left` ns more, to be assigned.
    #[inline]
    pub(super) const fn stretch(&mut self, left: u64) -> Stretch<'_> {
        Stretch { parts: self, left }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        other.iter().for_each(|(class, ns)| self.add(class, ns));
    }
}

/// Assigns the time of one thread, from a start to an end, to classes. The sum of the assigned
/// times is by construction the elapsed time, whatever times come in whatever order.
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

    /// Time is assigned up to here, ns.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// End of the time to assign, ns.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// The time up to `t`, to be assigned to the classes that claim some of it.
    #[inline]
    pub(super) fn stretch(&mut self, t: u64) -> Stretch<'_> {
        let t = t.min(self.end);
        let left = t.saturating_sub(self.at);
        self.at = self.at.max(t);
        Stretch { parts: &mut self.parts, left }
    }

    /// Assigns the time up to `t` to one class.
    #[inline]
    pub(super) fn until(&mut self, t: u64, class: Class) {
        self.stretch(t).rest(class);
    }

    /// Assigns the time up to `t` like another thread's, if it is as long; otherwise it is unknown.
    pub(super) fn copy(&mut self, t: u64, parts: &Parts) {
        if t <= self.end && parts.total() == t.saturating_sub(self.at) {
            self.at = self.at.max(t);
            self.parts.add_all(parts);
        } else {
            self.until(t, Class::Unknown);
        }
    }

    /// Assigns the rest of the time to one class.
    pub(super) fn finish(mut self, rest: Class) -> Parts {
        self.until(self.end, rest);
        self.parts
    }
}

/// A stretch of time, partly unassigned.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    parts: &'a mut Parts,
    left: u64,
}

impl Stretch<'_> {
    /// Assigns what a class claims, as far as time is left.
    #[inline]
    pub(super) fn give(&mut self, class: Class, claim: u64) {
        // Without a branch, because how long a thread takes is unpredictable.
        let ns = self.left.min(claim);
        self.add(class, ns);
        self.left -= ns;
    }

    /// The same for several claims.
    #[inline]
    pub(super) fn give_all(&mut self, claims: impl IntoIterator<Item = (Class, u64)>) {
        claims.into_iter().for_each(|(class, claim)| self.give(class, claim));
    }

    /// Unassigned time, ns.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Assigns the rest to one class. Returns how much that was, ns.
    #[inline]
    pub(super) fn rest(mut self, class: Class) -> u64 {
        let left = self.left;
        self.add(class, left);
        left
    }

    /// It cannot overflow: an [`Allocation`] assigns no more than the time that it fills.
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
        // Going back assigns nothing; going beyond the end assigns no more than there is.
        assert_eq!(until(120, &[(Class::Probes, 10)]), 0);
        assert_eq!(until(170, &[(Class::Probes, 5)]), 15);
        let parts = fill.finish(Class::Unknown);
        assert_eq!(parts.total(), 100);
        assert_eq!(parts.get(Class::Probes), 15);
        assert_eq!(parts.get(Class::Preempted), 40);
        assert_eq!(parts.get(Class::Unknown), 30);
    }
}
