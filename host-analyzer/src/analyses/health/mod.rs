//! Health: what was lost, and what there is to say of it.
//!
//! Stage: analysis. From: the agent's totals, the damage on the way. To: [`Health`]. Promises: every end of an
//! operator that the kernel saw is received, or counted under one of the other words:
//! `kernel = received + dropped + no_start + unaccounted`.

mod experts;
mod finding;
mod session;
mod stream;
mod sums;

use crate::model::Model;
pub use finding::{Finding, Of, Severity};
pub use sums::{ByReason, Damaged, Dropped, ExpertSum, Health, SpanSum};

/// The health of a session.
#[must_use]
pub fn health(model: &Model) -> Health {
    let mut health = Health::sums(model);
    health.findings = findings(model, &health);
    health
}

/// All findings; a single one when there is nothing to report.
fn findings(model: &Model, health: &Health) -> Vec<Finding> {
    let mut found = Vec::new();
    let totals = &model.health;
    stream::refused(model, &mut found);
    if let Some(ledger) = &totals.ledger {
        stream::dropped(Of::Spans, ledger, ledger.span_ends, &mut found);
    }
    stream::nested(model, &mut found);
    stream::sched(model, &mut found);
    experts::lost(model, health, &mut found);
    stream::damaged(model, &mut found);
    stream::cut_short(model, health, &mut found);
    stream::unaccounted(model, health, &mut found);
    session::probes(model, &mut found);
    if health.perfect {
        let experts = health.experts.map_or(0, |e| e.kept);
        let (spans, calls) = (health.spans.received, model.decodes.len() as u64);
        found.push(Finding::Complete { spans, calls, experts });
    }
    session::counters(model, &mut found);
    session::levels(model, &mut found);
    stream::edges(Of::Spans, totals.ledger.as_ref(), &mut found);
    stream::edges(Of::Nested, totals.nested.as_ref(), &mut found);
    found
}
