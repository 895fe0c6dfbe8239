//! One meeting of threads: what it would have taken, and what delayed it.
//!
//! All threads start from the opening of the barrier before, at R. Thread i begins after `s` on the
//! CPU, and computes for `c`. Without an inner barrier the meeting takes max(s + c). With one,
//! threads spin until the last has begun, so it takes max(s) + max(c), where `c` counts from the
//! last beginning on. With no cause removed this is the measured time, by construction.

use super::cause::{Amounts, Cause};
use super::lookup::Lookup;
use super::meeting::end;
use super::member::{Member, Times, computes_from, place};
use super::opening::late_opening;
use super::usual::{ProbeCosts, Usual, usual};
use super::waking::WakingTimes;
use profinfer_trace::model::Spans;

/// Work of a thread that has nothing to do in an operator, where the probes' cost is unknown, ns.
const NOTHING_NS: u64 = 1_000;

/// If a thread computed more than this share above the mean while another was off the CPU, it did
/// that thread's part too. Threads take parts only where they also meet inside the operator.
const STOLEN: f64 = 1.1;

/// Longest time that a thread computes before it comes to a barrier inside an operator, ns: it
/// converts its part of the input.
const BEFORE_MEETING_NS: u64 = 10_000;

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
    /// How much longer a thread computes that was off the CPU right before, ns.
    pub(super) returning_ns: u64,
    /// How much longer one computes that was off the CPU in the operator, ns.
    pub(super) resuming_ns: u64,
    /// Time that a spinning barrier and the dispatch of the next operator take, with the probes, ns.
    pub(super) spinning_ns: u64,
    pub(super) waking: WakingTimes,
    /// Most threads that can run at once.
    pub(super) at_once: usize,
    pub(super) costs: ProbeCosts,
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
            let on = end.saturating_sub(member.from).saturating_sub(member.inside.total());
            if !member.before.is_empty() && member.from == start {
                member.longer = kind.returning_ns.min(on);
            }
            // Interrupts are none of the causes yet.
            let slept = member.slept_inside();
            if kind.inner && slept {
                member.returns = kind.waking.returns.min(on);
            } else if !slept && !member.inside.is_empty() {
                member.returns = kind.resuming_ns.min(on);
            }
            if !spans.migrated[*i] {
                lookup.interrupts(spans.cpu[*i], member.from, end, &mut member.inside);
            }
        }
        if kind.inner {
            self.wakes_others(spans, members, kind.waking.wakes, lookup);
        }
        self.disturbed(opened, release, kind)
    }

    /// The thread that comes last to the barrier inside the operator wakes those that sleep there, one after the
    /// other, before it computes: until the last of them is woken, and at least `usual_ns`. The end of a sleep does
    /// not show how long an idle CPU takes to react, for which the waker waits on a virtual machine.
    fn wakes_others(&mut self, spans: &Spans, members: &[usize], usual_ns: u64, lookup: &mut Lookup<'_>) {
        let Some(last) = (0..self.members.len()).max_by_key(|at| self.members[*at].start) else { return };
        let Member { start, end, .. } = self.members[last];
        let others = || (0..members.len()).filter(|at| *at != last);
        let until = others()
            .flat_map(|at| lookup.rows(spans.thread[members[at]], start, end))
            .filter(|a| a.cause == Cause::Asleep && a.start < start.saturating_add(BEFORE_MEETING_NS))
            .map(|a| a.end.min(end))
            .max();
        let Some(until) = until else { return };
        let mut away = Amounts::default();
        lookup.away(spans.thread[members[last]], start, until, &mut away);
        let seen = until.saturating_sub(start).saturating_sub(away.total());
        let on = |m: &Member| m.end.saturating_sub(m.from).saturating_sub(m.inside.total());
        // It has about as much to compute as the others.
        let second = others().map(|at| on(&self.members[at])).max().unwrap_or(0);
        let own = on(&self.members[last]);
        let usual = usual_ns.min(own.saturating_sub(second.min(own) / 2));
        self.members[last].inside.add(Cause::Asleep, seen.max(usual));
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
        // Those that sleep at the barrier are woken when all have come.
        let sleeps = self.members.iter().zip(members).flat_map(|(m, i)| {
            let rows = lookup.rows(spans.thread[*i], m.start, m.end);
            rows.iter().find(|a| a.cause == Cause::Asleep)
        });
        let all_came = sleeps.map(|a| a.end).min().unwrap_or(u64::MAX);
        for (n, i) in members.iter().enumerate() {
            let Member { start, end: own_end, .. } = self.members[n];
            let others = || self.members.iter().enumerate().filter(|(other, _)| *other != n).map(|(_, m)| m);
            let Some(others_end) = others().map(|m| m.end).min() else { continue };
            // They take far longer than usual, so they wait.
            let wait = others().all(|m| m.end.saturating_sub(m.start) > limit);
            let rows = lookup.rows(spans.thread[*i], start, own_end);
            // One that sleeps has come to the barrier.
            let came = rows.iter().position(|a| a.cause == Cause::Asleep).unwrap_or(rows.len());
            let rows = &rows[..came];
            let before = rows.iter().rev().find(|a| a.start < start.saturating_add(BEFORE_MEETING_NS));
            let waited_for = || rows.iter().find(|a| wait && others_end.saturating_sub(a.end) <= limit);
            let Some(away) = before.or_else(waited_for) else { continue };
            if away.end > start && away.end <= others_end.min(all_came) {
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
        let all = Times::new(&self.members, opened, kind.inner, |_| true);
        let measured = release.saturating_sub(opened);
        let slept = self.members.iter().any(Member::slept_before);
        let spinning = kind.spinning_ns;
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
        let mut costs = kind.costs;
        if queued && is_shared(all.most, all.second, kind) {
            // The work of all threads is one after the other, and so are their probes.
            costs.inside = costs.inside.saturating_mul(self.members.len() as u64) / threads as u64;
        }
        let usual = usual(without, gap, work(on.sum, on.most, on.second, self.members.len(), kind), costs);
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
        last_to_end.iter().for_each(|m| m.add_inside(inner, claims));
        let mut left = excess;
        let first = left.min(claims.total());
        left -= first - claims.share(first, &mut delays.caused);
        if left > 0 {
            // Others did the part of a thread that was away, so the last one was not the cause.
            claims.clear();
            for m in members.iter() {
                m.add_before(claims);
                m.add_inside(inner, claims);
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
