//! How engines ended, and why nothing was traced.

use profinfer_wire::record::ending::{Ending, code};

use crate::model::{EndingKind, EndingRow, MAX_ENDINGS};

pub(super) fn add(rows: &mut Vec<EndingRow>, r: &Ending<'_>) {
    if rows.len() >= MAX_ENDINGS {
        return;
    }
    let kind = match r.code {
        code::NO_PROCESS => EndingKind::NoProcess,
        code::NO_PROBE => EndingKind::NoProbe,
        code::EXITED => EndingKind::Exited,
        code::KILLED => EndingKind::Killed,
        code::CALL_OPEN => EndingKind::CallOpen,
        code::PID_NAMESPACE => EndingKind::PidNamespace,
        code::PACKED_LIBRARY => EndingKind::PackedLibrary,
        code::CHILD => EndingKind::Child,
        code::LATE => EndingKind::Late,
        unknown => EndingKind::Unknown(unknown),
    };
    let Ending { at_ns, pid, other, status, signal, since_ns, text, .. } = *r;
    rows.push(EndingRow { at_ns, kind, pid, other, status, signal, since_ns, text: text.to_owned() });
}
