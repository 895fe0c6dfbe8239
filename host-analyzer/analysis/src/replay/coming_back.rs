//! What a thread needs after it came back to a CPU, learnt from a recording: one pass over its operators.

use super::cause::Cause;
use super::class::Classes;
use super::inner::Learnt;
use super::lookup::Lookup;
use super::meeting::{Meetings, end};
use super::returning::{Absence, Returning, ReturningTimes};
use super::waking::{Waking, WakingTimes};
use profinfer_trace::model::Model;

/// How much longer a thread computes after it came back to a CPU, and what waking threads takes.
pub(super) fn coming_back(
    model: &Model,
    classes: &Classes,
    learnt: &[Learnt],
    spinning_ns: [u64; 2],
    meetings: &mut Meetings,
    lookup: &mut Lookup<'_>,
) -> (ReturningTimes, WakingTimes) {
    let (mut returning, mut waking) = (Returning::new(classes.len()), Waking::default());
    if lookup.is_empty() {
        return (returning.times(), waking.times());
    }
    let spans = &model.spans;
    for (call, rows) in spans.by_call() {
        meetings.read(spans, rows);
        let of_node = classes.of_topology(model.graph_calls.topology[call.0 as usize]);
        let mut opened = model.graph_calls.start_ns[call.0 as usize];
        for (at, m) in meetings.rows.iter().enumerate() {
            let members = meetings.members(m);
            waking.add(spans, members, opened, spinning_ns[at.min(1)], lookup);
            let Some(class) = of_node.get(m.node.0 as usize).map(|class| class.0 as usize) else { continue };
            let inner = learnt.get(class).is_some_and(|l| l.inner);
            let last_start = members.iter().map(|i| spans.start_ns[*i]).max().unwrap_or(opened);
            for i in members {
                let (thread, start, end) = (spans.thread[*i], spans.start_ns[*i], end(spans, *i));
                // Those that wait for the last one have done their part before the barrier meanwhile.
                let waits = inner && start < last_start;
                let inside = lookup.rows(thread, start, end);
                // One that sleeps inside waits at a barrier.
                if waits || inside.iter().any(|a| a.cause == Cause::Asleep) {
                    continue;
                }
                let absence = if !inside.is_empty() {
                    Absence::Inside
                } else if lookup.rows(thread, opened, start).is_empty() {
                    Absence::None
                } else {
                    Absence::Before
                };
                let away = inside.iter().map(|a| a.end.min(end).saturating_sub(a.start.max(start)));
                let on = end.saturating_sub(start).saturating_sub(away.fold(0, u64::saturating_add));
                returning.add(class, absence, on);
            }
            opened = m.release;
        }
    }
    (returning.times(), waking.times())
}
