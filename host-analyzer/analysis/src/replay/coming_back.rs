//! What a thread needs after it came back to a CPU, learnt from a recording: one pass over its operators.

use super::class::Classes;
use super::inner::Learnt;
use super::lookup::Lookup;
use super::meeting::{Meetings, end};
use super::returning::Returning;
use super::waking::{Waking, WakingTimes};
use profinfer_trace::model::Model;

/// How much longer a thread computes after it came back to a CPU, by class, ns; and what waking threads takes.
pub(super) fn coming_back(
    model: &Model,
    classes: &Classes,
    learnt: &[Learnt],
    spinning_ns: [u64; 2],
    meetings: &mut Meetings,
    lookup: &mut Lookup<'_>,
) -> (Vec<u64>, WakingTimes) {
    let (mut returning, mut waking) = (Returning::new(classes.len()), Waking::default());
    if lookup.is_empty() {
        return (returning.longer(), waking.times());
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
                if !waits && lookup.rows(thread, start, end).is_empty() {
                    let returned = !lookup.rows(thread, opened, start).is_empty();
                    returning.add(class, returned, end.saturating_sub(start));
                }
            }
            opened = m.release;
        }
    }
    (returning.longer(), waking.times())
}
