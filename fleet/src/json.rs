//! Results and errors for programs. docs/analyze-json.md describes them.

use std::io::{self, Write};

use profinfer_cli::{Diagnostic, Result};
use profinfer_schema::{DRAFT, SCHEMA};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Failed<'a> {
    schema: u32,
    draft: bool,
    error: &'a Diagnostic,
}

/// Prints a value on one line of standard output. A reader that has closed the pipe is not an error.
pub(crate) fn print(value: &impl Serialize) -> Result<()> {
    let written = serde_json::to_vec(value).map_err(io::Error::from).and_then(|mut text| {
        text.push(b'\n');
        io::stdout().lock().write_all(&text)
    });
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            let help = "redirect standard output to a file or a pipe";
            Err(Diagnostic::new("writing the result as JSON", e, help))
        }
        _ => Ok(()),
    }
}

/// Prints an error on standard error.
pub(crate) fn print_error(error: &Diagnostic, is_json: bool) {
    let object = Failed { schema: SCHEMA, draft: DRAFT, error };
    let text = if is_json { serde_json::to_string(&object).ok() } else { None };
    let _ = writeln!(io::stderr(), "{}", text.unwrap_or_else(|| format!("error: {error}")));
}
