//! Results for programs: one JSON object per command on standard output, and nothing else there.
//!
//! docs/analyze-json.md describes the objects. A command whose result is a published file prints
//! the struct of profinfer-schema. The other structs are next to their commands; the rules of
//! docs/compatibility.md apply to them too.

use std::io::{self, Write};

use profinfer_schema::{DRAFT, SCHEMA};
use serde::Serialize;

use crate::{Diagnostic, Result};

/// An object that is not one of profinfer-schema's, with the version of the schema.
#[derive(Debug, Serialize)]
pub(crate) struct Object<T> {
    schema: u32,
    draft: bool,
    #[serde(flatten)]
    content: T,
}

impl<T> Object<T> {
    pub(crate) const fn new(content: T) -> Self {
        Self { schema: SCHEMA, draft: DRAFT, content }
    }
}

/// Content of the object of a command that failed.
#[derive(Debug, Serialize)]
struct Failed<'a> {
    error: &'a Diagnostic,
}

/// Prints an object on one line of standard output.
///
/// # Errors
/// If standard output cannot be written. A reader that has closed the pipe is not an error.
pub(crate) fn print(object: &impl Serialize) -> Result<()> {
    match write(object) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            let help = "redirect standard output to a file or a pipe";
            Err(Diagnostic::new("writing the result as JSON", e, help))
        }
        _ => Ok(()),
    }
}

/// As [`print()`], with the answer of the system.
pub(crate) fn write(object: &impl Serialize) -> io::Result<()> {
    // Serialized before anything is written, so that a reader gets a complete object or nothing.
    let mut text = serde_json::to_vec(object)?;
    text.push(b'\n');
    io::stdout().lock().write_all(&text)
}

/// Prints the error of a command on standard error, as its last line.
pub(crate) fn print_error(error: &Diagnostic) {
    if let Ok(text) = serde_json::to_string(&Object::new(Failed { error })) {
        let _ = writeln!(io::stderr(), "{text}");
    }
}
