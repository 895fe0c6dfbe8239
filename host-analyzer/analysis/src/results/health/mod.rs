//! Health: what was lost, and remarks about it.
//!
//! Stage: analysis. From: the agent's totals, damage in transit. To: [`Health`]. Promises: every
//! operator end that the kernel saw is received, or counted under exactly one of the other terms:
//! `kernel = received + dropped + left_out + empty + no_start + unaccounted`.

mod capture;
mod experts;
mod remark;
mod session;
mod stream;
mod sums;

use super::accelerator::ProfileJoin;
use super::capture::Capture;
use super::duty::Slowdown;
use super::ending::{Ending, EndingCode};
use profinfer_trace::model::Model;
pub use remark::{Late, Of, Remark, RingStalls, Severity};
pub use sums::{Damaged, Dropped, ExpertSum, Health, SkippedKind, SpanSum};

/// The health of a session.
#[must_use]
pub fn health(
    model: &Model,
    ending: &Ending,
    capture: &Capture,
    slowdown: &Slowdown,
    profiles: &[ProfileJoin],
) -> Health {
    let mut health = Health::sums(model);
    health.remarks = remarks(model, ending, &health);
    capture::left_out(model, capture, slowdown, &mut health.remarks);
    health.remarks.extend(profiles.iter().cloned().map(Box::new).map(Remark::AcceleratorProfile));
    health
}

/// All remarks; a single one when there is nothing to report.
fn remarks(model: &Model, ending: &Ending, health: &Health) -> Vec<Remark> {
    let mut found = Vec::new();
    // These two have remarks of their own type.
    if !matches!(ending.code, EndingCode::Computed | EndingCode::NotAsked | EndingCode::Refused) {
        found.push(Remark::Ending(Box::new(ending.clone())));
    }
    let totals = &model.health;
    stream::refused(model, &mut found);
    if let Some(ledger) = &totals.ledger {
        stream::dropped(Of::Spans, ledger, ledger.span_ends, &mut found);
    }
    stream::too_large(model, &mut found);
    stream::stalled(health, &mut found);
    found.extend(health.late.iter().copied().map(Remark::MetLate));
    stream::nested(model, &mut found);
    stream::sched(model, &mut found);
    stream::cpu_use(model, &mut found);
    experts::lost(model, health, &mut found);
    stream::parts(model, &mut found);
    stream::damaged(model, &mut found);
    stream::cut_short(model, health, &mut found);
    stream::unaccounted(model, health, &mut found);
    session::probes(model, &mut found);
    found.extend(totals.operator_probes.iter().cloned().map(Remark::Probed));
    if health.perfect && ending.traced {
        let experts = health.experts.map_or(0, |e| e.kept);
        let (spans, calls) = (health.spans.received, model.llama_calls.len() as u64);
        found.push(Remark::Complete { spans, calls, experts });
    }
    session::counters(model, &mut found);
    session::levels(model, ending.traced, &mut found);
    stream::edges(Of::Spans, totals.ledger.as_ref(), &mut found);
    stream::edges(Of::Nested, totals.nested.as_ref(), &mut found);
    found
}
