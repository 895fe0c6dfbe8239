//! Results as JSON: one object on standard output, and nothing else there. docs/agent-json.md
//! describes the objects.
//!
//! The types that the commands serialize are a contract. A published field keeps its name and
//! meaning; new fields may be added.

use std::io::Write;

use serde::Serialize;

use crate::error::{Diagnostic, Result};

/// Schema version of all objects. It changes when a field is removed or changes its meaning.
pub(super) const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub(super) struct Failed<'a> {
    pub(super) schema: u32,
    pub(super) error: &'a Diagnostic,
}

///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print(value: &impl Serialize) -> Result<()> {
    let failed = |answer: &dyn std::fmt::Display| {
        Diagnostic::new("writing the result as JSON", answer, "redirect standard output to a file or a pipe")
    };
    // One write, so that a reader gets a complete object or nothing.
    let mut text = serde_json::to_vec(value).map_err(|e| failed(&e))?;
    text.push(b'\n');
    std::io::stdout().lock().write_all(&text).map_err(|e| failed(&e))
}
