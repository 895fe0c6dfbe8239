//! `backends.json`: operators by shape on the backends of several recordings, as docs/output-schema.md says.

use std::io::{self, Write};

use serde::Serialize;

use super::SCHEMA;
use profinfer_analysis::accelerator::{Accelerators, ProfileJoin, SeveralRow};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    recordings: Vec<Recording<'a>>,
    rows: &'a [SeveralRow],
}

#[derive(Serialize)]
struct Recording<'a> {
    name: &'a str,
    profiles: &'a [ProfileJoin],
}

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
    let recordings = names.iter().zip(recordings);
    let recordings = recordings.map(|(name, of)| Recording { name, profiles: &of.profiles }).collect();
    serde_json::to_writer(&mut *out, &Document { schema: SCHEMA, recordings, rows })?;
    out.write_all(b"\n")
}
