//! The token's own time: along the last arriver of each operator, whose delays are the ones that cost anything.

use super::arrival::{Causes, Meeting, end};
use super::class::{Class, Fill, Parts};
use super::thread::Call;
use super::{Costs, is_cpu};
use crate::model::{GraphCallId, NodeIdx, TopologyId};

/// The wall time of one graph call of the CPU backend by class; `worked` hears of the work of each node.
pub(super) fn cpu(
    causes: &Causes<'_>,
    costs: Costs,
    call: &Call,
    topology: Option<TopologyId>,
    (start, stop): (u64, u64),
    worked: &mut dyn FnMut(NodeIdx, u64),
) -> Parts {
    let mut fill = Fill::new(start, stop);
    let spans = &causes.model.spans;
    let mut probes = 0;
    for m in call.meetings.in_order() {
        if causes.scheduler.has_rows() {
            let off = causes.scheduler.off_cpu(spans.thread[m.first], fill.at(), m.start);
            let [a, b, c, d, e] = off.claims();
            fill.until(m.start, &[a, b, c, d, e, (Class::Probes, probes)], causes.between());
        } else {
            fill.until(m.start, &[(Class::Probes, probes)], causes.between());
        }
        probes = costs.outside;
        operator(&mut fill, causes, costs, topology, m, worked);
    }
    let rest = if call.rows.is_empty() { causes.unseen() } else { causes.between() };
    fill.until(stop, &[(Class::Probes, probes)], rest);
    fill.finish(rest)
}

fn operator(
    fill: &mut Fill,
    causes: &Causes<'_>,
    costs: Costs,
    topology: Option<TopologyId>,
    m: &Meeting,
    worked: &mut dyn FnMut(NodeIdx, u64),
) {
    if !causes.ends() {
        // Its time goes on to the next start: who came late, who waited and what delayed whom is not known.
        let all = fill.until(m.release, &[(Class::Probes, costs.inside)], Class::WorkAndWait);
        return worked(m.node, all);
    }
    let (before, inside) = causes.last_off_cpu(m);
    let mut claims = [(Class::Work, 0); 9];
    let (taken, shared) = claims.split_at_mut(6);
    taken.copy_from_slice(&[
        (Class::Preempted, before.preempted.saturating_add(inside.preempted)),
        (Class::Throttled, before.throttled.saturating_add(inside.throttled)),
        (Class::Waking, inside.waking),
        (Class::Blocked, before.blocked.saturating_add(inside.asleep())),
        (Class::Interrupted, causes.last_interrupts(m)),
        (Class::Probes, costs.inside),
    ]);
    let mut n = taken.len();
    if m.threads > 1 && !causes.one_thread(m) {
        let late = causes.began_late(m, before);
        // What is left of the lateness is work that the others could share: of n threads, each would take an nth.
        let probes = costs.inside;
        let external = taken
            .iter()
            .chain(&late)
            .fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns))
            .saturating_sub(probes);
        let uneven = m.release.saturating_sub(m.others_end).saturating_sub(external);
        let threads = u64::from(m.threads);
        shared.copy_from_slice(&[
            late[0],
            late[1],
            (causes.uneven(topology, m), uneven / threads * (threads - 1)),
        ]);
        n += shared.len();
    }
    let work = fill.until(m.release, &claims[..n], Class::Work);
    worked(m.node, work);
}

/// The wall time of a graph call of another backend.
pub(super) fn other(
    causes: &Causes<'_>,
    call: &Call,
    (start, stop): (u64, u64),
    worked: &mut dyn FnMut(NodeIdx, u64),
) -> Parts {
    let (mut fill, model) = (Fill::new(start, stop), causes.model);
    for i in call.rows.clone() {
        fill.until(model.spans.start_ns[i], &[], Class::OtherBackend);
        let (thread, stop) = (model.spans.thread[i], end(&model.spans, i));
        let off = causes.scheduler.off_cpu(thread, fill.at(), stop);
        let work = fill.until(stop, &off.claims_of(Class::OtherBackend), Class::Work);
        worked(model.spans.node[i], work);
    }
    fill.finish(Class::OtherBackend)
}

/// The wall time of a backend's call by class.
pub(super) fn graph(
    causes: &Causes<'_>,
    costs: Costs,
    call: &Call,
    id: GraphCallId,
    time: (u64, u64),
    worked: &mut dyn FnMut(NodeIdx, u64),
) -> Parts {
    let calls = &causes.model.graph_calls;
    if is_cpu(causes.model, id) {
        cpu(causes, costs, call, calls.topology[id.0 as usize], time, worked)
    } else {
        other(causes, call, time, worked)
    }
}
