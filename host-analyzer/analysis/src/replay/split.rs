//! One meeting of threads: what it would have taken, and what delayed it.
//!
//! All threads start from the opening of the barrier before, at R. Thread i begins after `s` on the
//! CPU, and computes for `c`. Without an inner barrier the meeting takes max(s + c). With one,
//! threads spin until the last has begun, so it takes max(s) + max(c), where `c` counts from the
//! last beginning on. With no cause removed this is the measured time, by construction.

use super::away::{Away, union};
use super::cause::{Amounts, Cause};
use super::lookup::Lookup;
use super::meeting::end;
use super::sum::Sum;
use profinfer_trace::model::Spans;

/// Work of a thread that has nothing to do in an operator, where the probes' cost is unknown, ns.
const NOTHING_NS: u64 = 1_000;

/// A barrier that opens this long after the last operator ended opened late, ns.
const LATE_NS: u64 = 5_000;

/// If a thread computed more than this share above the mean while another was off the CPU, it did
/// that thread's part too. Threads take parts only where they also meet inside the operator.
const STOLEN: f64 = 1.1;

/// Longest time that a thread computes before it comes to a barrier inside an operator, ns: it
/// converts its part of the input.
const BEFORE_MEETING_NS: u64 = 10_000;

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

/// One thread in a meeting, ns.
#[derive(Debug, Default)]
struct Member {
    start: u64,
    end: u64,
    /// Off the CPU before it began, by cause.
    before: Amounts,
    /// Off the CPU, or interrupted, while it computed.
    inside: Amounts,
    /// Start of its own computing: later than `start` if it first waited at an inner barrier.
    from: u64,
    /// How much longer it computed because it was off the CPU before, ns.
    longer: u64,
}

impl Member {
    fn slept_before(&self) -> bool {
        self.before.iter().any(|(cause, _)| sleeps(cause))
    }

    /// Adds what kept it from beginning, and that it computed longer for the same causes.
    fn add_before(&self, to: &mut Amounts) {
        let mut causes = Amounts::default();
        self.before.iter().for_each(|(cause, ns)| causes.add(place(cause, false, true), ns));
        causes.share(self.longer, to);
        to.add_all(&causes);
    }
}

/// What delayed a meeting.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Delays {
    /// Time that the meeting took longer, by cause. With the usual time and `unexplained`, these
    /// sum to the measured time.
    pub(super) caused: Amounts,
    /// How much earlier the meeting would have been with one cause removed and the others kept.
    pub(super) alone: Amounts,
    /// Time that no cause claims.
    pub(super) unexplained: u64,
}

impl Delays {
    fn clear(&mut self) {
        self.caused.clear();
        self.alone.clear();
        self.unexplained = 0;
    }
}

/// Where threads queue for CPUs, they sleep at barriers instead of spinning: libgomp does not spin if
/// they are more than the CPUs. So their wake-ups are due to their number.
const fn of_queue(queued: bool, cause: Cause) -> Cause {
    match cause {
        Cause::WakeUp if queued => Cause::TooManyThreads,
        other => other,
    }
}

/// Splits meetings. Its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    members: Vec<Member>,
    claims: Amounts,
    /// Time on the CPU that a thread needs to wake others: seen between operators, where the first thread
    /// that begins has woken those that sleep at the barrier.
    wakers: Sum,
    pub(super) delays: Delays,
}

/// What is known of the operator of a meeting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// It has an inner barrier.
    pub(super) inner: bool,
    /// Its class is one whose work several threads share.
    pub(super) shared: bool,
    /// The longest time that is not out of the ordinary, ns.
    pub(super) limit: u64,
    /// How much longer a thread computes after it came back to a CPU, ns.
    pub(super) returning_ns: u64,
    /// Time that a spinning barrier and the dispatch of the next operator take, with the probes, ns.
    pub(super) spinning_ns: u64,
    /// Most threads that can run at once.
    pub(super) at_once: usize,
    pub(super) costs: ProbeCosts,
}

/// When a thread begins to compute: at an inner barrier it waits for the last one to begin, unless it
/// ended before.
const fn computes_from(inner: bool, (start, end): (u64, u64), last_start: u64) -> u64 {
    if inner && end >= last_start { last_start } else { start }
}

impl Splitter {
    /// The meeting of these spans after the barrier that opened at `opened`. Fills
    /// [`Splitter::delays`].
    pub(super) fn split(
        &mut self,
        spans: &Spans,
        members: &[usize],
        opened: u64,
        kind: Kind,
        lookup: &mut Lookup<'_>,
    ) -> Usual {
        self.delays.clear();
        let last_start = members.iter().map(|i| spans.start_ns[*i]).max().unwrap_or(opened);
        let release = members.iter().map(|i| end(spans, *i)).max().unwrap_or(opened);
        if !lookup.disturbs(spans, members, opened, release) {
            return self.clean(spans, members, (opened, last_start, release), kind);
        }
        let late = late_opening(spans, members, opened, lookup);
        let usual = self.after_opening(spans, members, (opened + late.ns, release), kind, lookup);
        self.delays.caused.add_all(&late.caused);
        self.delays.alone.add_all(&late.caused);
        usual
    }

    /// The same from the time on at which the barrier opened.
    fn after_opening(
        &mut self,
        spans: &Spans,
        members: &[usize],
        (opened, release): (u64, u64),
        kind: Kind,
        lookup: &mut Lookup<'_>,
    ) -> Usual {
        self.members.clear();
        for i in members {
            let (start, end) = (spans.start_ns[*i], end(spans, *i));
            self.members.push(Member { start, end, ..Member::default() });
        }
        if kind.inner {
            self.stopped_before_meeting(spans, members, kind.limit, lookup);
        }
        let last_start = self.members.iter().map(|m| m.start).max().unwrap_or(opened);
        for (member, i) in self.members.iter_mut().zip(members) {
            let Member { start, end, .. } = *member;
            member.from = computes_from(kind.inner, (start, end), last_start);
            lookup.away(spans.thread[*i], opened, start, &mut member.before);
            lookup.away(spans.thread[*i], member.from, end, &mut member.inside);
            if !member.before.is_empty() && member.from == start {
                let on = end.saturating_sub(member.from).saturating_sub(member.inside.total());
                member.longer = kind.returning_ns.min(on);
            }
            if !spans.migrated[*i] {
                lookup.interrupts(spans.cpu[*i], member.from, end, &mut member.inside);
            }
        }
        self.disturbed(opened, release, kind)
    }

    /// A thread that lost its CPU before it came to the barrier inside the operator begins when it
    /// returns: the others wait for it there, so none of them ends before.
    fn stopped_before_meeting(
        &mut self,
        spans: &Spans,
        members: &[usize],
        limit: u64,
        lookup: &mut Lookup<'_>,
    ) {
        for (n, i) in members.iter().enumerate() {
            let Member { start, end: own_end, .. } = self.members[n];
            let others = || self.members.iter().enumerate().filter(|(other, _)| *other != n).map(|(_, m)| m);
            let Some(others_end) = others().map(|m| m.end).min() else { continue };
            // They take far longer than usual, so they wait.
            let wait = others().all(|m| m.end.saturating_sub(m.start) > limit);
            let rows = lookup.rows(spans.thread[*i], start, own_end);
            let before = rows.iter().rev().find(|a| a.start < start.saturating_add(BEFORE_MEETING_NS));
            let waited_for = || rows.iter().find(|a| wait && others_end.saturating_sub(a.end) <= limit);
            let Some(away) = before.or_else(waited_for) else { continue };
            if away.end > start && away.end <= others_end {
                self.members[n].start = away.end.min(own_end);
            }
        }
    }

    /// No thread was off the CPU.
    fn clean(
        &self,
        spans: &Spans,
        members: &[usize],
        (opened, last_start, release): (u64, u64, u64),
        kind: Kind,
    ) -> Usual {
        let (mut sum, mut most, mut second, mut first) = (0_u64, 0_u64, 0_u64, u64::MAX);
        for i in members {
            let (start, end) = (spans.start_ns[*i], end(spans, *i));
            let from = computes_from(kind.inner, (start, end), last_start);
            let on = end.saturating_sub(from);
            first = first.min(start);
            sum = sum.saturating_add(on);
            second = second.max(most.min(on));
            most = most.max(on);
        }
        let gap = first.max(opened) - opened;
        usual(release.saturating_sub(opened), gap, work(sum, most, second, members.len(), kind), kind.costs)
    }

    /// Some thread was off the CPU, or was interrupted.
    fn disturbed(&mut self, opened: u64, release: u64, kind: Kind) -> Usual {
        let mut all = Times::new(&self.members, opened, kind.inner, |_| true);
        let measured = release.saturating_sub(opened);
        let slept = self.members.iter().any(Member::slept_before);
        let spinning = kind.spinning_ns;
        if slept {
            let awake = self.members.iter().filter(|m| !m.slept_before() && m.before.is_empty());
            if let Some(first) = awake.map(|m| m.start).min() {
                self.wakers.add(first.saturating_sub(opened).saturating_sub(spinning));
            }
        }
        if kind.inner && self.members.iter().any(|m| m.inside.iter().any(|(cause, _)| sleeps(cause))) {
            // At the barrier inside, the last thread that comes wakes the others while it computes.
            all.wakes(self.wakers.mean().unwrap_or(0));
        }
        // What the threads computed, when none was away.
        let threads = self.members.len().min(kind.at_once).max(1);
        let mean = all.sum / threads as u64;
        let queued = self.members.len() > threads;
        let stolen = kind.inner && all.most as f64 > mean as f64 * STOLEN;
        let most = if (stolen || queued) && is_shared(all.most, all.second, kind) { mean } else { all.most };
        // Where threads sleep, a thread that begins late has woken others. More threads than CPUs begin one
        // after the other.
        let late = slept || queued;
        let gap = if late { all.gap.min(spinning) } else { all.gap };
        let without =
            if late { gap.saturating_add(most) } else { (all.time + most).saturating_sub(all.most) };
        let without = without.min(measured);
        let mut on = all;
        on.most = most;
        on.second = on.second.min(most);
        let usual =
            usual(without, gap, work(on.sum, on.most, on.second, self.members.len(), kind), kind.costs);
        let excess = measured - usual.total().min(measured);
        self.blame(excess, kind.inner);
        if queued {
            self.delays.caused.rename(Cause::WakeUp, Cause::TooManyThreads);
        }
        let place = |cause, before| of_queue(queued, place(cause, kind.inner, before));
        self.alone((opened, measured), kind.inner, excess, measured.saturating_sub(all.time), place);
        usual
    }

    /// Adds time of threads on the CPU that is out of the ordinary. Who had the CPU before used its caches
    /// too, so up to the length of the delays of this meeting it is due to them.
    pub(super) fn longer(&mut self, ns: u64) {
        let Self { claims, delays, .. } = self;
        let due = ns.min(delays.caused.total());
        claims.clear();
        let none = delays.caused.share(due, claims);
        delays.caused.add_all(claims);
        delays.alone.add_all(claims);
        delays.unexplained = delays.unexplained.saturating_add(ns - due + none);
    }

    /// Distributes the excess to causes: first to those of the threads that came last.
    fn blame(&mut self, excess: u64, inner: bool) {
        let Self { members, claims, delays, .. } = self;
        claims.clear();
        let last_to_begin = members.iter().max_by_key(|m| m.start);
        let last_to_end = members.iter().max_by_key(|m| m.end);
        let before = if inner { last_to_begin } else { last_to_end };
        before.iter().for_each(|m| m.add_before(claims));
        last_to_end.iter().for_each(|m| add_inside(&m.inside, inner, claims));
        let mut left = excess;
        let first = left.min(claims.total());
        left -= first - claims.share(first, &mut delays.caused);
        if left > 0 {
            // Others did the part of a thread that was away, so the last one was not the cause.
            claims.clear();
            for m in members.iter() {
                m.add_before(claims);
                add_inside(&m.inside, inner, claims);
            }
            let second = left.min(claims.total() / members.len().max(1) as u64);
            left -= second - claims.share(second, &mut delays.caused);
            // Sleep shows that waking took place; how long it took is the rest of the time.
            if left > 0 && delays.caused.get(Cause::WakeUp) > 0 {
                delays.caused.add(Cause::WakeUp, left);
                left = 0;
            }
        }
        delays.unexplained = left;
    }

    /// The effect of removing each cause alone.
    fn alone(
        &mut self,
        (opened, measured): (u64, u64),
        inner: bool,
        excess: u64,
        by_times: u64,
        place: impl Fn(Cause, bool) -> Cause,
    ) {
        let Self { members, claims, delays, .. } = self;
        let causes: Vec<Cause> = delays.caused.iter().map(|(cause, _)| cause).collect();
        if let [only] = causes[..] {
            delays.alone.add(only, excess - delays.unexplained.min(excess));
            return;
        }
        claims.clear();
        for cause in causes {
            let removed = |c: Cause, before: bool| place(c, before) == cause;
            let time = Times::removing(members, opened, inner, removed).time;
            claims.add(cause, measured.saturating_sub(time));
        }
        // Where all causes together save more or less than the times show, so does each.
        for (cause, ns) in claims.iter() {
            let ns = if by_times == 0 { ns } else { (ns as f64 * excess as f64 / by_times as f64) as u64 };
            delays.alone.add(cause, ns.min(excess));
        }
    }
}

/// Times of a meeting from those of its members without some causes, ns.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// Total.
    time: u64,
    /// First start, from the opening of the barrier before.
    gap: u64,
    /// Sum of computing, most, and second most.
    sum: u64,
    most: u64,
    second: u64,
}

impl Times {
    /// Without `ns` of the thread that woke others.
    fn wakes(&mut self, ns: u64) {
        let ns = ns.min(self.most.saturating_sub(self.second.min(self.most) / 2));
        self.sum = self.sum.saturating_sub(ns);
        self.most = self.most.saturating_sub(ns).max(self.second);
    }

    fn new(members: &[Member], opened: u64, inner: bool, removed: impl Fn(Cause) -> bool) -> Self {
        Self::removing(members, opened, inner, |cause, _| removed(cause))
    }

    /// `removed` gets a cause, and whether it delayed the beginning.
    fn removing(members: &[Member], opened: u64, inner: bool, removed: impl Fn(Cause, bool) -> bool) -> Self {
        let sum_of = |amounts: &Amounts, before: bool| {
            let ns = amounts.iter().filter(|(cause, _)| removed(*cause, before)).map(|(_, ns)| ns);
            ns.fold(0, u64::saturating_add)
        };
        let (mut latest, mut longest, mut gap) = (0_u64, 0_u64, u64::MAX);
        let (mut sum, mut most, mut second) = (0_u64, 0_u64, 0_u64);
        for m in members {
            let before = sum_of(&m.before, true);
            let began = m.start.saturating_sub(opened).saturating_sub(before);
            let on = m.end.saturating_sub(m.from).saturating_sub(sum_of(&m.inside, false));
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

/// Several threads had work.
const fn is_shared(most: u64, second: u64, kind: Kind) -> bool {
    kind.shared || some_work(second, kind.costs.inside) || most <= second.saturating_mul(2)
}

/// A thread that takes this long, with the probes inside, computes something.
const fn some_work(ns: u64, inside: u64) -> bool {
    ns > nothing_ns(inside)
}

/// Longest time of a thread that has nothing to do, with the probes inside, ns.
pub(super) const fn nothing_ns(inside: u64) -> u64 {
    if inside == 0 { NOTHING_NS } else { inside * 3 / 2 }
}

/// Work of the threads: the mean over those that can run at once where they share it, else that of
/// the one that has it.
fn work(sum: u64, most: u64, second: u64, threads: usize, kind: Kind) -> u64 {
    let threads = threads.min(kind.at_once);
    if threads > 1 && is_shared(most, second, kind) { sum / threads as u64 } else { most }
}

/// A barrier that opened later than the last operator ended.
#[derive(Debug, Default)]
struct LateOpening {
    /// How much later, ns.
    ns: u64,
    /// What kept the threads from coming to it, ns; they sum to `ns`.
    caused: Amounts,
}

/// A thread that lost its CPU between its operator and the barrier holds up all others there: none
/// of them starts before it is back.
fn late_opening(spans: &Spans, members: &[usize], opened: u64, lookup: &mut Lookup<'_>) -> LateOpening {
    let first = members.iter().map(|i| spans.start_ns[*i]).min().unwrap_or(opened);
    if first <= opened.saturating_add(LATE_NS) {
        return LateOpening::default();
    }
    let mut rows: Vec<Away> =
        members.iter().flat_map(|i| lookup.rows(spans.thread[*i], opened, first)).copied().collect();
    // A thread that sleeps waits at the barrier.
    rows.retain(|a| !sleeps(a.cause) && a.end <= first);
    let mut late = LateOpening::default();
    let Some(until) = rows.iter().map(|a| a.end).max() else { return late };
    late.ns = until.saturating_sub(opened);
    // Between two of them the threads only come to the barrier and leave it.
    let seen = union(&mut rows, (opened, until));
    seen.share(late.ns, &mut late.caused);
    late
}

/// Splits an undisturbed time; `work` includes the probes inside.
fn usual(time: u64, gap: u64, work: u64, costs: ProbeCosts) -> Usual {
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

/// The thread slept, or was being woken.
const fn sleeps(cause: Cause) -> bool {
    matches!(cause, Cause::Asleep | Cause::WakeUp)
}

/// A thread that sleeps before it begins, or where it waits for others inside an operator, waits at
/// a barrier.
const fn place(cause: Cause, inner: bool, before: bool) -> Cause {
    match cause {
        Cause::Asleep if before || inner => Cause::WakeUp,
        other => other,
    }
}

fn add_inside(from: &Amounts, inner: bool, to: &mut Amounts) {
    from.iter().for_each(|(cause, ns)| to.add(place(cause, inner, false), ns));
}
