//! Probes on the functions of the engine that fill a batch, take an output or edit the memory.

use super::fact::Conditions;
use profinfer_trace::model::Model;

/// Hits of these probes; `None` without any.
pub(crate) fn hits(conditions: &Conditions) -> Option<u64> {
    conditions.system.batch_hits.value().copied().filter(|n| *n > 0)
}

/// Estimated time of these probes, ns. A hit has one probe of the two that
/// were measured.
pub(crate) fn ns(model: &Model, conditions: &Conditions) -> Option<u64> {
    let pair_ns = model.health.probe_cost?.pair_ns;
    hits(conditions).map(|hits| hits.saturating_mul(pair_ns) / 2)
}
