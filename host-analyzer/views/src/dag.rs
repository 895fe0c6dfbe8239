//! `dag.json`: the computed graphs, with the time of each node.
//!
//! Stage: view. From: the `dag` analysis. To: one JSON object, `profinfer_schema::Dag`.

use std::io::{self, Write};

use crate::published::Publish;
use profinfer_analysis::Analysis;
use profinfer_schema::{DRAFT, Dag, SCHEMA};
use profinfer_trace::model::Model;

/// Writes the graphs.
///
/// # Errors
/// Those of `out`.
pub fn dag(_model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let dag = Dag { schema: SCHEMA, draft: DRAFT, graphs: analysis.dag.publish() };
    serde_json::to_writer(&mut *out, &dag)?;
    out.write_all(b"\n")
}
