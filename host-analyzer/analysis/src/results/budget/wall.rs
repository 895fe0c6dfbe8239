//! The token's own time, along the last arriver of each operator: only its delays cost anything.

use std::ops::Range;

use super::Costs;
use super::arrival::{Barrier, end};
use super::class::{Allocation, Class, Parts};
use super::lateness::{Causes, Late};
use super::worked::OfGraph;

/// The wall time of one graph call of the CPU backend by class, barrier by barrier.
pub(super) struct Wall<'a, const SCHED: bool> {
    causes: &'a Causes<'a, SCHED>,
    costs: Costs,
    fill: Allocation,
    /// Time of the probes after the last operator, ns.
    probes: u64,
}

impl<'a, const SCHED: bool> Wall<'a, SCHED> {
    pub(super) fn new(causes: &'a Causes<'a, SCHED>, costs: Costs, (start, stop): (u64, u64)) -> Self {
        Self { causes, costs, fill: Allocation::new(start, stop), probes: 0 }
    }

    /// Assigns the time up to the opening of a barrier. Returns the work of its operator, ns.
    #[inline(always)]
    pub(super) fn up_to(&mut self, m: &Barrier, late: &Late<SCHED>) -> u64 {
        let Self { causes, costs, fill, probes } = self;
        let off = causes.off_cpu_of(m.first, fill.at(), m.start);
        let mut stretch = fill.stretch(m.start);
        causes.give(&mut stretch, off, Class::Blocked);
        stretch.give(Class::Probes, *probes);
        stretch.rest(causes.between);
        *probes = costs.outside;
        if causes.ends() {
            operator(fill, causes, costs.inside, m, late)
        } else {
            // Its time continues to the next start: who was late, who waited and what delayed whom
            // is unknown.
            let mut stretch = fill.stretch(m.release);
            stretch.give(Class::Probes, costs.inside);
            stretch.rest(Class::WorkAndWait)
        }
    }

    /// Assigns the rest of the call's time to one class.
    pub(super) fn finish(mut self, rest: Class) -> Parts {
        let end = self.fill.end();
        let mut stretch = self.fill.stretch(end);
        stretch.give(Class::Probes, self.probes);
        stretch.rest(rest);
        self.fill.finish(rest)
    }
}

/// From the first start of an operator to the end of the last arriver. Returns the work in it, ns.
#[inline(always)]
fn operator<const SCHED: bool>(
    fill: &mut Allocation,
    causes: &Causes<'_, SCHED>,
    inside_cost: u64,
    m: &Barrier,
    late: &Late<SCHED>,
) -> u64 {
    let (before, inside) = causes.last_off_cpu(m);
    let mut stretch = fill.stretch(m.release);
    // Time that other tasks took from the last arriver.
    let claims = [
        (Class::Preempted, before.preempted.saturating_add(inside.preempted)),
        (Class::Throttled, before.throttled.saturating_add(inside.throttled)),
        (Class::Waking, inside.waking),
        (Class::Blocked, before.blocked.saturating_add(inside.asleep())),
        (Class::Interrupted, causes.last_interrupts(m)),
    ];
    let mut taken = 0_u64;
    if SCHED {
        taken = claims.iter().fold(0, |sum, (_, ns)| sum.saturating_add(*ns));
        stretch.give_all(claims);
    }
    stretch.give(Class::Probes, inside_cost);
    if late.shared {
        let began = causes.began_late(m, late.ran, before);
        // The rest of the lateness is work that the others could share: with n threads, each would
        // take an nth.
        let external = taken.saturating_add(began[0].1).saturating_add(began[1].1);
        let uneven = m.release.saturating_sub(m.others_end).saturating_sub(external);
        stretch.give_all(began);
        stretch.give(late.uneven, others_part(uneven, m.threads));
    }
    stretch.rest(Class::Work)
}

/// The part of a shared time that all threads but one would take.
#[inline]
fn others_part(ns: u64, threads: u32) -> u64 {
    // The same as for any number of threads, without a division.
    if threads == 2 { ns / 2 } else { ns / u64::from(threads) * u64::from(threads - 1) }
}

/// The wall time of a graph call of another backend.
pub(super) fn other<const SCHED: bool>(
    causes: &Causes<'_, SCHED>,
    rows: Range<usize>,
    (start, stop): (u64, u64),
    worked: &mut OfGraph<'_>,
) -> Parts {
    let (mut fill, model) = (Allocation::new(start, stop), causes.model);
    for i in rows {
        fill.until(model.spans.start_ns[i], Class::OtherBackend);
        let stop = end(&model.spans, i);
        let off = causes.off_cpu_of(i, fill.at(), stop);
        let mut stretch = fill.stretch(stop);
        causes.give(&mut stretch, off, Class::OtherBackend);
        worked.node(model.spans.node[i], stretch.rest(Class::Work));
    }
    fill.finish(Class::OtherBackend)
}
