//! Errors that a person meets: what was tried, what the system answered, what to do.

use std::fmt;

/// One such error.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    tried: String,
    answer: String,
    help: String,
}

/// What may go wrong in front of a person.
pub(crate) type Result<T> = std::result::Result<T, Diagnostic>;

impl Diagnostic {
    pub(crate) fn new(tried: impl Into<String>, answer: impl fmt::Display, help: impl Into<String>) -> Self {
        Self { tried: tried.into(), answer: answer.to_string(), help: help.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}: {}\n  help: {}", self.tried, self.answer, self.help)
    }
}
