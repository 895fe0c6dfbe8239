//! The files of an output folder, and the view that writes each.

use std::io::{self, Write};

use crate::{chrome, dag, dot, perfetto, report, summary, tables};
use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// Writes one view of a recording.
pub type View = fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()>;

/// Perfetto's timeline; `analyze` writes a large one in parts.
pub const PERFETTO: &str = "timeline.pftrace";

/// The page for people.
pub const REPORT: &str = "report.html";

/// Files that are written by default. The report comes first: the others may find no space. Then the slowest,
/// so that no core waits long for the last one.
pub const VIEWS: [(&str, View); 9] = [
    (REPORT, report::report),
    ("ops.parquet", tables::ops_parquet),
    (PERFETTO, perfetto::perfetto),
    ("summary.json", summary::summary),
    ("dag.json", dag::dag),
    ("dag.dot", dot::dot),
    ("tokens.parquet", tables::tokens_parquet),
    ("experts.parquet", tables::experts_parquet),
    ("threads.parquet", tables::threads_parquet),
];

/// The tables as CSV, written on request.
pub const CSV: [(&str, View); 4] = [
    ("ops.csv", tables::ops_csv),
    ("tokens.csv", tables::tokens_csv),
    ("experts.csv", tables::experts_csv),
    ("threads.csv", tables::threads_csv),
];

/// The timeline as JSON, written on request.
pub const CHROME: (&str, View) = ("timeline.json", chrome::chrome);
