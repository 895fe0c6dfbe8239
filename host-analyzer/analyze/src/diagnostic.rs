//! Diagnostics that several commands need.

use std::{fmt, io};

use profinfer_cli::Diagnostic;
use profinfer_trace::decode::OpenError;

use crate::foreign;

/// The error for a file, or standard output, that cannot be written.
pub(crate) fn unwritable(place: impl fmt::Display, e: io::Error) -> Diagnostic {
    Diagnostic::new(format!("writing {place}"), e, "free space, or choose another place with --out")
}

/// The error for a stream that cannot be read at all. `source` names it, and these are its first bytes.
pub(crate) fn not_readable(source: &str, first: &[u8], e: OpenError) -> Diagnostic {
    let tried = format!("reading {source}");
    if let OpenError::NotAStream = e {
        let help = "give a recording (.pfi) or the port of `profinfer-agent serve`";
        return match (foreign::kind(first), foreign::line(first)) {
            (Some((what, help)), _) => {
                Diagnostic::new(tried, format!("this is {what}, not a recording"), help)
            }
            (None, Some(line)) => Diagnostic::new(tried, format!("{e}; it begins with `{line}`"), help),
            (None, None) => Diagnostic::new(tried, e, help),
        };
    }
    let help = match e {
        OpenError::Empty => "the agent wrote nothing: read its messages on the board",
        OpenError::NotAStream => "give a recording (.pfi) or the port of `profinfer-agent serve`",
        OpenError::NewlinesRewritten => {
            "the link is a terminal in text mode: use `adb exec-out`, `hdc file recv` or a forwarded port"
        }
        OpenError::Newer { .. } => "use the `analyze` of the agent's release, or a newer one",
        OpenError::Older { .. } => "use the `analyze` of the release that recorded it",
    };
    Diagnostic::new(tried, e, help)
}
