//! The threads of a meeting, and its times without some of the causes that delayed them.

use super::cause::{Amounts, Cause};

/// One thread in a meeting, ns.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Off the CPU before it began, by cause.
    pub(super) before: Amounts,
    /// Off the CPU, interrupted, or waking others, while it computed.
    pub(super) inside: Amounts,
    /// Start of its own work: later than `start` if the thread had to wait at an inner barrier before.
    pub(super) from: u64,
    /// How much longer it computed because it was off the CPU before, ns.
    pub(super) longer: u64,
    /// How much longer it was on the CPU because it was off it inside the operator: after it was woken at a barrier,
    /// until it computed; or it computed slower, ns.
    pub(super) returns: u64,
}

impl Member {
    pub(super) fn slept_before(&self) -> bool {
        self.before.iter().any(|(cause, _)| sleeps(cause))
    }

    pub(super) fn slept_inside(&self) -> bool {
        self.inside.get(Cause::Asleep) > 0
    }

    /// Adds what kept it from beginning, and that it computed longer for the same causes.
    pub(super) fn add_before(&self, to: &mut Amounts) {
        let mut causes = Amounts::default();
        self.before.iter().for_each(|(cause, ns)| causes.add(place(cause, false, true), ns));
        causes.share(self.longer, to);
        to.add_all(&causes);
    }

    /// The same of what kept it from going on.
    pub(super) fn add_inside(&self, inner: bool, to: &mut Amounts) {
        let mut causes = Amounts::default();
        self.inside.iter().for_each(|(cause, ns)| causes.add(place(cause, inner, false), ns));
        causes.share(self.returns, to);
        to.add_all(&causes);
    }
}

/// When a thread begins to compute: at an inner barrier it waits for the last one to begin, unless it
/// ended before.
pub(super) const fn computes_from(inner: bool, (start, end): (u64, u64), last_start: u64) -> u64 {
    if inner && end >= last_start { last_start } else { start }
}

/// Times of a meeting from those of its members without some causes, ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Total.
    pub(super) time: u64,
    /// First start, from the opening of the barrier before.
    pub(super) gap: u64,
    /// Sum of computing, most, and second most.
    pub(super) sum: u64,
    pub(super) most: u64,
    pub(super) second: u64,
}

impl Times {
    pub(super) fn new(members: &[Member], opened: u64, inner: bool, removed: impl Fn(Cause) -> bool) -> Self {
        Self::removing(members, opened, inner, |cause, _| removed(cause))
    }

    /// `removed` gets a cause, and whether it delayed the beginning.
    pub(super) fn removing(
        members: &[Member],
        opened: u64,
        inner: bool,
        removed: impl Fn(Cause, bool) -> bool,
    ) -> Self {
        let sum_of = |amounts: &Amounts, before: bool| {
            let ns = amounts.iter().filter(|(cause, _)| removed(*cause, before)).map(|(_, ns)| ns);
            ns.fold(0, u64::saturating_add)
        };
        let (mut latest, mut longest, mut gap) = (0_u64, 0_u64, u64::MAX);
        let (mut sum, mut most, mut second) = (0_u64, 0_u64, 0_u64);
        for m in members {
            let before = sum_of(&m.before, true);
            let began = m.start.saturating_sub(opened).saturating_sub(before);
            let inside = sum_of(&m.inside, false);
            let on = m.end.saturating_sub(m.from).saturating_sub(inside);
            let on = if inside > 0 { on.saturating_sub(m.returns) } else { on };
            let on = if before > 0 { on.saturating_sub(m.longer) } else { on };
            latest = latest.max(began);
            gap = gap.min(began);
            longest = longest.max(began.saturating_add(on));
            sum = sum.saturating_add(on);
            second = second.max(most.min(on));
            most = most.max(on);
        }
        let time = if inner { latest.saturating_add(most) } else { longest };
        Self { time, gap: gap.min(time), sum, most, second }
    }
}

/// The thread slept, or was being woken.
pub(super) const fn sleeps(cause: Cause) -> bool {
    matches!(cause, Cause::Asleep | Cause::WakeUp)
}

/// A thread that sleeps before it begins, or where it waits for others inside an operator, waits at
/// a barrier.
pub(super) const fn place(cause: Cause, inner: bool, before: bool) -> Cause {
    match cause {
        Cause::Asleep if before || inner => Cause::WakeUp,
        other => other,
    }
}
