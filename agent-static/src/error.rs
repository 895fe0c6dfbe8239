//! Errors for the user, and log lines.

use std::io::Write;

pub use profinfer_cli::{Diagnostic, Result};

/// Writes one line to standard error. Standard output may carry the stream.
pub fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "profinfer-agent: {line}");
}
