//! Errors that a person meets: what was tried, what the system answered, what to do.

use std::fmt;
use std::io::Write;

use serde::Serialize;

/// One such error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What was tried.
    pub tried: String,
    /// What the system answered, or what was found.
    pub answer: String,
    /// What to do.
    pub help: String,
}

impl Diagnostic {
    /// An error from its three parts.
    pub fn new(tried: impl Into<String>, answer: impl fmt::Display, help: impl Into<String>) -> Self {
        Self { tried: tried.into(), answer: answer.to_string(), help: help.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  help: {}", self.tried, self.answer, self.help)
    }
}

impl std::error::Error for Diagnostic {}

/// Result with a [`Diagnostic`].
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// One line on standard error; standard output may carry the stream.
pub fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "profinfer-agent: {line}");
}
