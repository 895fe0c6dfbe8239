//! Edits of the memory of contexts, in order of arrival.

use profinfer_wire::record::edit::{self as wire, kind};

use crate::model::{Edit, EditKind};

/// Adds an edit. One of a kind that this build does not know is left out.
pub(super) fn add(rows: &mut Vec<Edit>, r: &wire::Edit) {
    let wire::Edit { pid, at_ns, memory, kind, seq, from, to, target } = *r;
    let kind = match kind {
        kind::CUT => EditKind::Cut,
        kind::COPY => EditKind::Copy,
        kind::CLEAR => EditKind::Clear,
        _ => return,
    };
    rows.push(Edit { pid, at_ns, memory, kind, seq, from, to, target });
}
