//! Time of the calling thread outside of CPU graphs.

use super::CallReplay;
use super::cause::{Amounts, Cause};
use super::lookup::Lookup;
use profinfer_trace::model::ThreadId;

/// What the calling thread does in a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Between two calls. It may sleep for its own reasons.
    Application,
    /// The same, where its sleep is counted separately.
    Between,
    /// In a graph between two calls.
    Encoder,
    /// Between two calls: it copies the state of a sequence.
    StateCopy,
    /// In the call: it allocates the memory of a graph anew.
    Allocation,
    /// In the call, before and between graphs.
    Preparation,
    /// The same, where other backends compute some of the graphs. It may sleep for them.
    BetweenBackends,
    /// In the graph of another backend, or waiting for it. It may sleep.
    OtherBackend,
    /// In a graph without recorded operators.
    NotRecorded,
}

/// Adds the time of `thread` from `from` to `to`: delays to their causes, the rest to what it does.
pub(super) fn add(
    call: &mut CallReplay,
    lookup: &mut Lookup<'_>,
    thread: ThreadId,
    (from, to): (u64, u64),
    does: Does,
) {
    let Some(length) = to.checked_sub(from).filter(|ns| *ns > 0) else { return };
    let mut found = Amounts::default();
    lookup.away(thread, from, to, &mut found);
    let mut left = length;
    for (cause, ns) in found.iter() {
        let ns = ns.min(left);
        // It sleeps by its own choice; a thread that is woken late was asleep for the same reason.
        let own = matches!(cause, Cause::Asleep | Cause::WakeUp);
        if own && does == Does::Between {
            call.idle_ns = call.idle_ns.saturating_add(ns);
            left -= ns;
            continue;
        }
        if own && does == Does::BetweenBackends {
            call.other_backend_ns = call.other_backend_ns.saturating_add(ns);
            left -= ns;
            continue;
        }
        if own && !matches!(does, Does::Preparation | Does::Allocation) {
            continue;
        }
        call.caused.add(cause, ns);
        call.alone.add(cause, ns);
        left -= ns;
    }
    let part = match does {
        Does::Application | Does::Between => &mut call.application_ns,
        Does::Encoder => &mut call.encoder_ns,
        Does::StateCopy => &mut call.state_copies_ns,
        Does::Preparation | Does::BetweenBackends => &mut call.preparation_ns,
        Does::Allocation => &mut call.allocation_ns,
        Does::OtherBackend => &mut call.other_backend_ns,
        Does::NotRecorded => &mut call.not_recorded_ns,
    };
    *part = part.saturating_add(left);
}

/// The same, where in some stretches of the time, by start, it does something else.
pub(super) fn add_with(
    call: &mut CallReplay,
    lookup: &mut Lookup<'_>,
    thread: ThreadId,
    (from, to): (u64, u64),
    does: Does,
    others: impl IntoIterator<Item = (u64, u64, Does)>,
) {
    let mut at = from;
    for (start, end, other) in others {
        let (start, end) = (start.max(at), end.max(at));
        add(call, lookup, thread, (at, start), does);
        add(call, lookup, thread, (start, end), other);
        at = end.max(start);
    }
    add(call, lookup, thread, (at, to), does);
}
