//! `dag.json`: the graphs that were computed, with what each node took.
//!
//! Stage: view. From: the `dag` analysis. To: one JSON object, as docs/output-schema.md says.

use std::io::{self, Write};

use serde::Serialize;

use super::SCHEMA;
use profinfer_analysis::Analysis;
use profinfer_analysis::dag::Dag;
use profinfer_trace::model::Model;

#[derive(Serialize)]
struct File<'a> {
    schema: u32,
    graphs: &'a [Dag],
}

/// Writes the graphs.
///
/// # Errors
/// Those of `out`.
pub fn dag(_model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &File { schema: SCHEMA, graphs: &analysis.dag })?;
    out.write_all(b"\n")
}
