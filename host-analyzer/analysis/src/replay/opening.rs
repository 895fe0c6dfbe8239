//! A barrier that opens late, because a thread lost its CPU on the way to it.

use super::away::{Away, union};
use super::cause::Amounts;
use super::lookup::Lookup;
use super::member::sleeps;
use profinfer_trace::model::Spans;

/// A barrier that opens this long after the last operator ended opened late, ns.
const LATE_NS: u64 = 5_000;

/// A barrier that opened later than the last operator ended.
#[derive(Debug, Default)]
pub(super) struct LateOpening {
    /// How much later, ns.
    pub(super) ns: u64,
    /// What kept the threads from coming to it, ns; they sum to `ns`.
    pub(super) caused: Amounts,
}

/// A thread that lost its CPU between its operator and the barrier holds up all others there: none
/// of them starts before it is back.
pub(super) fn late_opening(
    spans: &Spans,
    members: &[usize],
    opened: u64,
    lookup: &mut Lookup<'_>,
) -> LateOpening {
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
