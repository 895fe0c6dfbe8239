//! What the engine did for itself, in order of arrival.

use profinfer_wire::record::housekeeping::{self as wire, kind};

use crate::model::{Housekeeping, HousekeepingKind};

/// Adds a row. One of a kind that this build does not know is left out.
pub(super) fn add(rows: &mut Vec<Housekeeping>, r: &wire::Housekeeping) {
    let wire::Housekeeping { pid, tid, kind, start_ns, duration_ns, bytes } = *r;
    let kind = match kind {
        kind::SAVE_STATE => HousekeepingKind::SaveState,
        kind::RESTORE_STATE => HousekeepingKind::RestoreState,
        kind::ALLOCATE_GRAPH => HousekeepingKind::AllocateGraph,
        _ => return,
    };
    rows.push(Housekeeping { pid, tid, kind, start_ns, duration_ns, bytes });
}
