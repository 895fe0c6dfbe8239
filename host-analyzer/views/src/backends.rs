//! `backends.json`: operators by shape on the backends of several recordings, `profinfer_schema::Backends`.

use std::io::{self, Write};

use super::published::Publish;
use profinfer_analysis::accelerator::{Accelerators, SeveralRow};
use profinfer_schema::{Backends, BackendsRecording, DRAFT, SCHEMA};

/// Writes the rows.
///
/// # Errors
/// Those of `out`.
pub fn json(
    names: &[String],
    recordings: &[Accelerators],
    rows: &[SeveralRow],
    out: &mut dyn Write,
) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &document(names, recordings, rows))?;
    out.write_all(b"\n")
}

/// The content of `backends.json`. Each recording has a name.
#[must_use]
pub fn document(names: &[String], recordings: &[Accelerators], rows: &[SeveralRow]) -> Backends {
    let recordings = names.iter().zip(recordings);
    let recordings = recordings
        .map(|(name, of)| BackendsRecording { name: name.clone(), profiles: of.profiles.publish() })
        .collect();
    Backends { schema: SCHEMA, draft: DRAFT, recordings, rows: rows.publish() }
}
