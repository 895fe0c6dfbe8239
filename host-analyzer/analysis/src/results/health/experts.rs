//! Lost expert selections.

use super::remark::{Of, Remark};
use super::stream;
use super::sums::Health;
use profinfer_trace::model::Model;
use profinfer_trace::model::expert::selections;

/// Whether any of the recorded graphs contains a router's selection.
pub(super) fn model_has_routers(model: &Model) -> bool {
    model.topologies.rows.iter().any(|topology| !selections(&model.texts, topology).is_empty())
}

pub(super) fn lost(model: &Model, health: &Health, found: &mut Vec<Remark>) {
    let Some(e) = health.experts else { return };
    let (of, seen, before) = (Of::Experts, e.chosen.unwrap_or(0), found.len());
    if let Some(ledger) = &model.health.experts {
        stream::dropped(of, ledger, seen, found);
    }
    let dropped = found.len() > before;
    match e.unaccounted {
        None if e.chosen.is_none() => found.push(Remark::TotalsMissing { of, received: e.kept }),
        Some(n) if n > 0 => found.push(Remark::NotHere { of, n: n.unsigned_abs(), seen }),
        Some(0) => {}
        // While a session runs, more may arrive after the last totals.
        _ if model.health.end.is_none() => {}
        _ => found.push(Remark::TooMany(of)),
    }
    if model.health.end.is_some() && model.health.experts.is_some_and(|l| !l.balances()) {
        found.push(Remark::NotBalanced(of));
    }
    if e.missing > 0 {
        let counted = dropped || e.unaccounted.is_some_and(|n| n > 0);
        found.push(Remark::Incomplete { n: e.missing, counted });
    }
}
