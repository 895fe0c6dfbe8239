//! Remarks from the totals and the stream, worst first.

use super::remark::{Of, Remark};
use super::sums::Health;
use profinfer_trace::model::totals::Totals;
use profinfer_trace::model::{DamageKind, EndReason, Ledger, Model};

/// Losses that `ledger` counted.
pub(super) fn dropped<L: Totals>(of: Of, ledger: &L, seen: u64, found: &mut Vec<Remark>) {
    let lost = ledger.losses().filter(|(_, n, _)| *n > 0);
    found.extend(lost.map(|(reason, n, bytes)| Remark::Dropped { of, reason, n, seen, bytes }));
}

/// For operators of graphs with too many nodes: how many the largest one has.
pub(super) fn too_large(model: &Model, found: &mut Vec<Remark>) {
    let calls = &model.graph_calls;
    let unknown =
        (0..calls.len()).filter(|i| calls.topology[*i].is_none()).map(|i| u64::from(calls.n_nodes[i]));
    let lost = model.health.ledger.is_some_and(|l| l.spans_too_large > 0);
    found.extend(unknown.max().filter(|nodes| lost && *nodes > 0).map(Remark::LargeGraph));
}

/// For records lost to a full ring buffer: whether it was full because its reader was stalled.
pub(super) fn stalled(health: &Health, found: &mut Vec<Remark>) {
    let full = |l: &Ledger| l.spans_ring_full > 0 || l.calls_ring_full > 0 || l.tensors_ring_full > 0;
    let lost = health.dropped.is_some_and(|d| full(&d.ledger));
    found.extend(health.ring_stalls.filter(|s| lost && s.count > 0).map(Remark::RingStalled));
}

pub(super) fn refused(model: &Model, found: &mut Vec<Remark>) {
    if let Some(reason) = &model.health.refused {
        found.push(Remark::Refused(reason.clone()));
    }
    if model.health.end.is_some_and(|e| e.reason == EndReason::Error) {
        found.push(Remark::AgentError);
    }
}

/// What was counted of one kind of rows.
struct Counted<L> {
    of: Of,
    ledger: Option<L>,
    received: u64,
    /// Those before a later piece of a recording are in its ledger, but not in the piece.
    from_the_start: bool,
}

/// Rows of one kind lost anywhere. `counts`: those that the agent sent, those that it saw, and
/// whether its figures balance.
fn lost<L: Totals>(
    model: &Model,
    counted: Counted<L>,
    counts: impl Fn(&L) -> (u64, u64, bool),
    found: &mut Vec<Remark>,
) {
    let Counted { of, ledger, received, from_the_start } = counted;
    let Some(l) = ledger else {
        if received > 0 {
            found.push(Remark::TotalsMissing { of, received });
        }
        return;
    };
    let (sent, seen, balances) = counts(&l);
    dropped(of, &l, seen, found);
    if model.health.end.is_none() {
        return;
    }
    if !balances {
        found.push(Remark::NotBalanced(of));
    } else if sent < received {
        found.push(Remark::TooMany(of));
    } else if sent > received && !(from_the_start && model.health.piece.is_some()) {
        found.push(Remark::NotHere { of, n: sent - received, seen });
    }
}

/// Nested calls lost anywhere.
pub(super) fn nested(model: &Model, found: &mut Vec<Remark>) {
    let (ledger, received) = (model.health.nested, model.health.all_nested());
    let counted = Counted { of: Of::Nested, ledger, received, from_the_start: false };
    lost(model, counted, |l| (l.sent, l.ends, l.balances()), found);
}

/// Scheduler rows lost anywhere.
pub(super) fn sched(model: &Model, found: &mut Vec<Remark>) {
    let (ledger, received) = (model.health.sched, model.health.all_sched());
    let counted = Counted { of: Of::Sched, ledger, received, from_the_start: false };
    lost(model, counted, |l| (l.sent, l.seen(), l.balances()), found);
}

/// Windows of the CPUs' use lost anywhere.
pub(super) fn cpu_use(model: &Model, found: &mut Vec<Remark>) {
    let (ledger, received) = (model.health.cpu_use, model.health.cpu_use_received);
    let counted = Counted { of: Of::CpuUse, ledger, received, from_the_start: true };
    lost(model, counted, |l| (l.sent, l.windows, l.balances()), found);
}

/// Batch sequences lost anywhere.
pub(super) fn parts(model: &Model, found: &mut Vec<Remark>) {
    let (ledger, received) = (model.health.parts, model.health.parts_received);
    let counted = Counted { of: Of::Parts, ledger, received, from_the_start: true };
    lost(model, counted, |l| (l.sent, l.tokens, l.balances()), found);
}

pub(super) fn damaged(model: &Model, found: &mut Vec<Remark>) {
    let dropped_frames = model.health.ledger.map_or(0, |l| l.frames_queue_full);
    for d in &model.health.damage {
        // Frames dropped at the agent's queue leave the same gap in the numbers, and are reported
        // already.
        let n = match d.kind {
            DamageKind::Gap => d.count.saturating_sub(dropped_frames),
            _ => d.count,
        };
        if d.kind == DamageKind::UnknownKind {
            let kinds = model.health.skipped.clone();
            found.push(Remark::Skipped { kinds, n, first_offset: d.first_offset });
        } else if n > 0 {
            found.push(Remark::Damaged { kind: d.kind, n, first_offset: d.first_offset });
        }
    }
    let n = model.topologies.rows.iter().filter(|s| !s.complete).count() as u64;
    if n > 0 {
        found.push(Remark::PartialTopologies { n, all: model.topologies.rows.len() as u64 });
    }
}

pub(super) fn cut_short(model: &Model, health: &Health, found: &mut Vec<Remark>) {
    let h = &model.health;
    if health.cut_short && h.refused.is_none() {
        found.push(Remark::CutShort { bytes: h.bytes, cut_bytes: h.cut_bytes });
    }
    found.extend(h.piece.map(|p| Remark::Piece { number: p.number, goes_on: p.goes_on }));
    if h.ledger.is_none() && h.refused.is_none() {
        found.push(Remark::TotalsMissing { of: Of::Spans, received: h.spans_received });
    }
}

pub(super) fn unaccounted(model: &Model, health: &Health, found: &mut Vec<Remark>) {
    let Some(ledger) = model.health.ledger else { return };
    let of = Of::Spans;
    if let Some(n) = health.spans.unaccounted.filter(|n| *n > 0) {
        found.push(Remark::NotHere { of, n: n.unsigned_abs(), seen: ledger.span_ends });
    }
    // While a session runs, spans may be between the kernel and the queue, and more may arrive
    // after the last totals. Neither is so once it has ended.
    let ended = model.health.end.is_some();
    if ended && !ledger.balances() {
        found.push(Remark::NotBalanced(of));
    } else if ended && health.spans.unaccounted.is_none_or(|n| n < 0) {
        found.push(Remark::TooMany(of));
    }
}

/// Operators in progress at the edges of the session: incomplete, not lost.
pub(super) fn edges<L: Totals>(of: Of, ledger: Option<&L>, found: &mut Vec<Remark>) {
    let edges = ledger.into_iter().flat_map(L::edges).filter(|(_, n)| *n > 0);
    found.extend(edges.map(|(edge, n)| Remark::Edge { of, when: edge.when, n }));
}
