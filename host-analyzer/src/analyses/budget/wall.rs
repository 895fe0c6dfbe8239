//! The token's own time: along the last arriver of each operator, whose delays are the ones that cost anything.

use super::arrival::{Meeting, end};
use super::class::{Class, Fill, Parts};
use super::lateness::{Causes, Late};
use super::thread::Call;
use super::{Costs, is_cpu};
use crate::model::{GraphCallId, NodeIdx};

/// The wall time of one graph call of the CPU backend by class; `worked` hears of the work of each node.
pub(super) fn cpu<const SCHED: bool>(
    causes: &Causes<'_, SCHED>,
    costs: Costs,
    call: &Call,
    (start, stop): (u64, u64),
    worked: &mut impl FnMut(NodeIdx, u64),
) -> Parts {
    let mut fill = Fill::new(start, stop);
    let spans = &causes.model.spans;
    let mut probes = 0;
    for row in call.meetings.in_order() {
        let m = &call.meetings.rows[row];
        let off = causes.off_cpu(spans.thread[m.first], fill.at(), m.start);
        let mut stretch = fill.stretch(m.start);
        causes.give(&mut stretch, off, Class::Blocked);
        stretch.give(Class::Probes, probes);
        stretch.rest(causes.between);
        probes = costs.outside;
        operator(&mut fill, causes, costs, (m, call.lateness.row(row)), worked);
    }
    let rest = if call.rows.is_empty() { causes.unseen() } else { causes.between };
    let mut stretch = fill.stretch(stop);
    stretch.give(Class::Probes, probes);
    stretch.rest(rest);
    fill.finish(rest)
}

#[inline]
fn operator<const SCHED: bool>(
    fill: &mut Fill,
    causes: &Causes<'_, SCHED>,
    costs: Costs,
    (m, late): (&Meeting, &Late),
    worked: &mut impl FnMut(NodeIdx, u64),
) {
    if !causes.ends() {
        // Its time goes on to the next start: who came late, who waited and what delayed whom is not known.
        let mut stretch = fill.stretch(m.release);
        stretch.give(Class::Probes, costs.inside);
        return worked(m.node, stretch.rest(Class::WorkAndWait));
    }
    let (before, inside) = causes.last_off_cpu(m);
    let mut stretch = fill.stretch(m.release);
    // What others took from the last arriver.
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
    stretch.give(Class::Probes, costs.inside);
    if late.shared {
        let began = causes.began_late(m, late.ran, before);
        // What is left of the lateness is work that the others could share: of n threads, each would take an nth.
        let external = taken.saturating_add(began[0].1).saturating_add(began[1].1);
        let uneven = m.release.saturating_sub(m.others_end).saturating_sub(external);
        let threads = u64::from(m.threads);
        stretch.give_all(began);
        stretch.give(late.uneven, uneven / threads * (threads - 1));
    }
    worked(m.node, stretch.rest(Class::Work));
}

/// The wall time of a graph call of another backend.
pub(super) fn other<const SCHED: bool>(
    causes: &Causes<'_, SCHED>,
    call: &Call,
    (start, stop): (u64, u64),
    worked: &mut impl FnMut(NodeIdx, u64),
) -> Parts {
    let (mut fill, model) = (Fill::new(start, stop), causes.model);
    for i in call.rows.clone() {
        fill.until(model.spans.start_ns[i], Class::OtherBackend);
        let (thread, stop) = (model.spans.thread[i], end(&model.spans, i));
        let off = causes.off_cpu(thread, fill.at(), stop);
        let mut stretch = fill.stretch(stop);
        causes.give(&mut stretch, off, Class::OtherBackend);
        worked(model.spans.node[i], stretch.rest(Class::Work));
    }
    fill.finish(Class::OtherBackend)
}

/// The wall time of a backend's call by class.
pub(super) fn graph<const SCHED: bool>(
    causes: &Causes<'_, SCHED>,
    costs: Costs,
    call: &Call,
    id: GraphCallId,
    time: (u64, u64),
    worked: &mut impl FnMut(NodeIdx, u64),
) -> Parts {
    if is_cpu(causes.model, id) {
        cpu(causes, costs, call, time, worked)
    } else {
        other(causes, call, time, worked)
    }
}
