//! Time on the CPU that sleep at barriers takes: of the thread that wakes the others, and of those that were
//! woken, until they compute.
//!
//! It shows between operators: the first thread that begins has woken those that sleep at the barrier,
//! and one that slept begins some time after it came back to a CPU. Barriers inside operators take the
//! same, where it seems to be work.

use super::away::Away;
use super::lookup::Lookup;
use super::member::sleeps;
use super::opening::late_opening;
use super::sum::Sum;
use profinfer_trace::model::Spans;

#[derive(Debug, Default)]
pub(super) struct Waking {
    wakes: Sum,
    returns: Sum,
}

/// Means, ns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WakingTimes {
    /// Of the thread that wakes others.
    pub(super) wakes: u64,
    /// Of each that was woken.
    pub(super) returns: u64,
}

impl Waking {
    /// Adds a meeting after a barrier that opened at `opened`. `spinning_ns`: what it takes if nobody sleeps.
    pub(super) fn add(
        &mut self,
        spans: &Spans,
        members: &[usize],
        opened: u64,
        spinning_ns: u64,
        lookup: &mut Lookup<'_>,
    ) {
        let opened = opened.saturating_add(late_opening(spans, members, opened, lookup).ns);
        let (mut first_awake, mut slept) = (u64::MAX, false);
        for i in members {
            let start = spans.start_ns[*i];
            let rows = lookup.rows(spans.thread[*i], opened, start);
            if rows.is_empty() {
                first_awake = first_awake.min(start);
            }
            if rows.iter().any(|a| sleeps(a.cause)) {
                slept = true;
                let away = |a: &Away| a.end.min(start).saturating_sub(a.start.max(opened));
                let off = rows.iter().map(away).fold(0, u64::saturating_add);
                self.returns
                    .add(start.saturating_sub(opened).saturating_sub(off).saturating_sub(spinning_ns));
            }
        }
        if slept && first_awake != u64::MAX {
            self.wakes.add(first_awake.saturating_sub(opened).saturating_sub(spinning_ns));
        }
    }

    pub(super) fn times(&self) -> WakingTimes {
        let mean = |sum: Sum| sum.mean().unwrap_or(0);
        WakingTimes { wakes: mean(self.wakes), returns: mean(self.returns) }
    }
}
