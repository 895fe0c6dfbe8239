//! Results for programs: one JSON object on standard output, and nothing else there. docs/agent-json.md describes the objects.
//!
//! The types here are the contract: a field that was published keeps its name and meaning, new ones may come.

use std::io::Write;

use serde::Serialize;

use crate::error::{Diagnostic, Result};

/// Version of all objects. It changes when a field changes its meaning or goes.
pub(super) const SCHEMA: u32 = 1;

/// A command that failed.
#[derive(Debug, Serialize)]
pub(super) struct Failed<'a> {
    pub(super) schema: u32,
    pub(super) error: &'a Diagnostic,
}

/// Prints an object.
///
/// # Errors
/// When standard output cannot be written.
pub(super) fn print(value: &impl Serialize) -> Result<()> {
    let failed = |answer: &dyn std::fmt::Display| {
        Diagnostic::new("writing the result as JSON", answer, "redirect standard output to a file or a pipe")
    };
    // As a whole: who reads it gets an object or nothing.
    let mut text = serde_json::to_vec(value).map_err(|e| failed(&e))?;
    text.push(b'\n');
    std::io::stdout().lock().write_all(&text).map_err(|e| failed(&e))
}
