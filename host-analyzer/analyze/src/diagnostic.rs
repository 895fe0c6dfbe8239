//! Errors that a person meets: what was tried, what the system answered, what to do.

use std::{fmt, io};

use profinfer_trace::decode::OpenError;

/// One such error.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    tried: String,
    answer: String,
    help: String,
}

impl Diagnostic {
    pub(crate) fn new(tried: impl Into<String>, answer: impl fmt::Display, help: impl Into<String>) -> Self {
        Self { tried: tried.into(), answer: answer.to_string(), help: help.into() }
    }

    /// The error for a file, or standard output, that cannot be written.
    pub(crate) fn unwritable(place: impl fmt::Display, e: io::Error) -> Self {
        Self::new(format!("writing {place}"), e, "free space, or choose another place with --out")
    }

    /// The error for a stream that cannot be read at all. `source` names it.
    pub(crate) fn not_readable(source: &str, e: OpenError) -> Self {
        let help = match e {
            OpenError::Empty => "the agent wrote nothing: read its messages on the board",
            OpenError::NotAStream => "give a recording (.pfi) or the port of `profinfer-agent serve`",
            OpenError::NewlinesRewritten => {
                "the link is a terminal in text mode: use `adb exec-out`, `hdc file recv` or a forwarded port"
            }
            OpenError::Newer { .. } => "use the `analyze` of the agent's release, or a newer one",
            OpenError::Older { .. } => "use the `analyze` of the release that recorded it",
        };
        Self::new(format!("reading {source}"), e, help)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}: {}\n  help: {}", self.tried, self.answer, self.help)
    }
}
