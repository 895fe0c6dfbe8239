//! The error that the programs print.

use std::fmt;

use serde::Serialize;

/// An error in three parts: what failed, what the system answered, what to do.
///
/// `Display` has no `error:` prefix, so that a message can contain another one. The program that
/// prints a diagnostic on standard error adds the prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The action that failed, for example `opening /dev/ttyS1`.
    pub tried: String,
    /// The answer of the system, or what was found instead.
    pub answer: String,
    /// What the user can do.
    pub help: String,
}

/// Result with a [`Diagnostic`].
pub type Result<T> = std::result::Result<T, Diagnostic>;

impl Diagnostic {
    /// A diagnostic from its three parts.
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
