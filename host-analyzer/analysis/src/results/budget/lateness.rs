//! Why the last arriver at a barrier was late.

use super::arrival::Barrier;
use super::class::{Class, Parts, Stretch};
use super::habit::{Habits, HabitsOf};
use super::off_cpu::{OffCpu, Scheduler};
use profinfer_trace::model::{Ends, Model, ThreadId};

/// Causes of the lateness of one operator's last arriver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Late<const SCHED: bool> {
    pub(super) shares: Shares<MOST>,
    /// Several threads had work, so each could take a part.
    pub(super) shared: bool,
    /// Classes for a late start while running, and for more work.
    pub(super) ran: Class,
    pub(super) uneven: Class,
}

/// Share of each cause in the lateness of a last arriver, and so in the wait of each thread for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares<const N: usize> {
    /// Lateness compared with the median of the others, ns; 1 instead of 0, because it is a
    /// divisor.
    total: u64,
    /// Time by waiting class, ns. The sum is the lateness, if there were other threads.
    causes: [(Class, u64); N],
}

impl<const N: usize> Shares<N> {
    /// Distributes a wait to the causes by their shares. The remainder of rounding, or all if there
    /// is no cause, goes to the largest.
    #[inline]
    pub(super) fn give(&self, mut stretch: Stretch<'_>) {
        let wait = stretch.left();
        for (class, ns) in self.causes {
            stretch.give(class, part(wait, ns, self.total));
        }
        if stretch.left() > 0 {
            stretch.rest(self.main());
        }
    }

    /// The same for two threads: one waits exactly as long as the other is late, and the other not
    /// at all. Which thread waits is unpredictable, so this code does not branch on it.
    #[inline]
    pub(super) fn give_all_or_nothing(&self, parts: &mut Parts, wait: u64) {
        self.causes.iter().for_each(|(class, ns)| parts.stretch(*ns).give(*class, wait));
    }

    fn main(&self) -> Class {
        let any = self.causes.iter().filter(|(_, ns)| *ns > 0);
        any.max_by_key(|(_, ns)| *ns).map_or(Class::WaitUneven, |(class, _)| *class)
    }
}

/// Most causes of one operator.
const MOST: usize = 7;

/// Causes with their times, ns, as long as lateness is left.
struct CauseList {
    causes: [(Class, u64); MOST],
    at: usize,
    left: u64,
}

impl CauseList {
    #[inline]
    fn push(&mut self, class: Class, ns: u64) {
        let ns = ns.min(self.left);
        self.causes[self.at] = (class, ns);
        self.at += 1;
        self.left -= ns;
    }
}

impl<const SCHED: bool> Late<SCHED> {
    /// Determines why the last arriver at a barrier was late.
    #[inline(always)]
    pub(super) fn new(causes: &Causes<'_, SCHED>, habits: HabitsOf<'_>, m: &Barrier) -> Self {
        let total = m.release.saturating_sub(m.others_end);
        let (ran, uneven) = causes.classes(habits, m);
        let shared = m.threads > 1 && !causes.one_thread(m);
        let mut found = CauseList { causes: [(Class::WaitUneven, 0); MOST], at: 0, left: total };
        if shared {
            causes.find(m, (ran, uneven), &mut found);
        } else if m.threads > 1 {
            found.push(Class::WaitOneThread, u64::MAX);
        }
        let shares = Shares { total: total.max(1), causes: found.causes };
        Self { shares, shared, ran, uneven }
    }

    /// Without the scheduler level there are at most two causes.
    #[inline]
    pub(super) const fn two(&self) -> Shares<2> {
        let Shares { total, causes: [first, second, ..] } = self.shares;
        Shares { total, causes: [first, second] }
    }
}

/// `wait * ns / total`, rounded down; `ns` is at most `total`. Most have one cause or wait for the
/// complete lateness, and need no division.
#[inline]
fn part(wait: u64, ns: u64, total: u64) -> u64 {
    if ns == total {
        return wait;
    }
    if wait == total || wait == 0 {
        return ns.min(wait);
    }
    // Nearly all fit, and a division of 128 bits takes ten times as long.
    match wait.checked_mul(ns) {
        Some(product) => product / total,
        None => {
            let part = u128::from(wait) * u128::from(ns) / u128::from(total);
            u64::try_from(part).unwrap_or(u64::MAX)
        }
    }
}

/// Data that determines the causes. With `SCHED` the scheduler level has rows. Without, nothing is
/// looked up, and the compiler replaces the time without a CPU by 0.
#[derive(Debug)]
pub(super) struct Causes<'a, const SCHED: bool> {
    pub(super) model: &'a Model,
    pub(super) scheduler: &'a Scheduler<'a>,
    pub(super) habits: &'a Habits,
    /// Relative speed of each CPU in any unit, where known.
    pub(super) speeds: &'a [u64],
    /// Time that the probes add to an empty operator, ns.
    pub(super) inside: u64,
    /// Class of the time between two captured operators: time of excluded operators, if a filter
    /// excluded any.
    pub(super) between: Class,
}

/// Work of a thread that has nothing to do in an operator, where the probes' cost is unknown, ns.
const NOTHING_NS: u64 = 1000;

impl<const SCHED: bool> Causes<'_, SCHED> {
    /// End probes were attached, so work and wait are separate.
    pub(super) fn ends(&self) -> bool {
        self.model.capture.ends == Ends::Both
    }

    /// Class of a thread's time in a graph without its operators.
    pub(super) fn unseen(&self) -> Class {
        if self.model.capture.operators_left_out() { Class::NotTraced } else { Class::Unknown }
    }

    /// Time without a CPU of `thread` from `from` to `to`.
    #[inline]
    pub(super) fn off_cpu(&self, thread: ThreadId, from: u64, to: u64) -> OffCpu {
        if SCHED { self.scheduler.off_cpu(thread, from, to) } else { OffCpu::default() }
    }

    /// The same for the thread of a span.
    #[inline]
    pub(super) fn off_cpu_of(&self, span: usize, from: u64, to: u64) -> OffCpu {
        if SCHED { self.off_cpu(self.model.spans.thread[span], from, to) } else { OffCpu::default() }
    }

    /// Assigns the claims of a thread without a CPU to their classes; its voluntary sleep is of the
    /// class `sleep`.
    #[inline]
    pub(super) fn give(&self, stretch: &mut Stretch<'_>, off: OffCpu, sleep: Class) {
        if SCHED {
            stretch.give_all(off.claims_of(sleep));
        }
    }

    /// Time of interrupts on the CPU of a span from `from` to `to`, ns.
    #[inline]
    pub(super) fn interrupts_of(&self, span: usize, from: u64, to: u64) -> u64 {
        if SCHED { self.scheduler.interrupts(self.model.spans.cpu[span], from, to) } else { 0 }
    }

    /// Only one thread had work.
    #[inline]
    fn one_thread(&self, m: &Barrier) -> bool {
        let nothing = if self.inside == 0 { NOTHING_NS } else { self.inside * 3 / 2 };
        if m.threads < 2 || m.others_work > nothing {
            return false;
        }
        // Delays of the last arriver are not work that the others lack.
        let delayed = self.last_off_cpu(m).1.total().saturating_add(self.last_interrupts(m));
        let work = self.model.spans.work_ns[m.last].saturating_sub(delayed);
        work > m.others_work.saturating_mul(2)
    }

    /// Time without a CPU of the last arriver, before it began and while it worked.
    #[inline]
    pub(super) fn last_off_cpu(&self, m: &Barrier) -> (OffCpu, OffCpu) {
        if !SCHED {
            return Default::default();
        }
        let start = self.model.spans.start_ns[m.last];
        let off = |from, to| self.off_cpu_of(m.last, from, to);
        (off(m.others_start.min(start), start), off(start, m.release))
    }

    /// Time of interrupts on the last arriver's CPU while it worked, ns.
    #[inline]
    pub(super) fn last_interrupts(&self, m: &Barrier) -> u64 {
        if SCHED { self.interrupts_of(m.last, self.model.spans.start_ns[m.last], m.release) } else { 0 }
    }

    /// How much later than the others the last arriver began, without the time that other tasks or
    /// a quota took: asleep, and late although it ran. In the second case the way from the barrier
    /// before took longer.
    #[inline]
    pub(super) fn began_late(&self, m: &Barrier, ran: Class, before: OffCpu) -> [(Class, u64); 2] {
        let began = self.model.spans.start_ns[m.last].saturating_sub(m.others_start);
        let asleep = before.waking.saturating_add(before.sleeping);
        [(Class::WaitStartedLate, asleep), (ran, began.saturating_sub(before.total()))]
    }

    /// Why the last of several arrivers was late.
    #[inline]
    fn find(&self, m: &Barrier, (ran, uneven): (Class, Class), late: &mut CauseList) {
        let (before, inside) = self.last_off_cpu(m);
        let [asleep, began] = self.began_late(m, ran, before);
        if SCHED {
            late.push(Class::WaitPreempted, before.preempted.saturating_add(inside.preempted));
            late.push(Class::WaitThrottled, before.throttled.saturating_add(inside.throttled));
            late.push(Class::WaitBlocked, before.blocked.saturating_add(inside.asleep()));
            late.push(Class::WaitInterrupted, self.last_interrupts(m));
            late.push(asleep.0, asleep.1);
        }
        late.push(began.0, began.1);
        late.push(uneven, u64::MAX);
    }

    /// Classes for a late start while running, and for more work.
    #[inline]
    fn classes(&self, habits: HabitsOf<'_>, m: &Barrier) -> (Class, Class) {
        if self.slower_core(m) {
            return (Class::WaitSlowerCore, Class::WaitSlowerCore);
        }
        let uneven = if habits.is_habit(m.node) { Class::WaitMoreRows } else { Class::WaitUneven };
        (Class::WaitStartedLate, uneven)
    }

    /// The last arriver is on a slower core than the thread that waits for it longest.
    #[inline]
    fn slower_core(&self, m: &Barrier) -> bool {
        let spans = &self.model.spans;
        let speed = |i: usize| self.speeds.get(usize::from(spans.cpu[i]?)).copied().filter(|s| *s > 0);
        !self.speeds.is_empty() && speed(m.last).zip(speed(m.early)).is_some_and(|(last, early)| last < early)
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_without_a_division_are_those_with_one() {
        let numbers = [0, 1, 2, 3, 7, 1000, 1001, u64::MAX - 1, u64::MAX];
        for total in numbers.into_iter().filter(|total| *total > 0) {
            for ns in numbers.into_iter().filter(|ns| *ns <= total) {
                for wait in numbers {
                    let divided = u128::from(wait) * u128::from(ns) / u128::from(total);
                    assert_eq!(u128::from(part(wait, ns, total)), divided, "{wait} {ns} {total}");
                }
            }
        }
    }
}
