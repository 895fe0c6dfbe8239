//! What works here, what does not, and why: the same trials that a session makes, printed as a table.
//!
//! Nothing is concluded from a version number if it can be tried. The real programs are loaded and attached to a
//! function of the agent itself.

mod engines;
mod kernel;
mod options;
mod permissions;
mod pmus;

use std::io::{self, Write};

use crate::target::process::Target;

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It works.
    Yes,
    /// It does not work, and a session loses something.
    No,
    /// Information that decides nothing.
    Info,
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    what: String,
    verdict: Verdict,
    said: String,
}

impl Row {
    fn new(what: impl Into<String>, verdict: Verdict, said: impl Into<String>) -> Self {
        Self { what: what.into(), verdict, said: said.into() }
    }

    fn yes(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(what, Verdict::Yes, said)
    }

    fn no(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(what, Verdict::No, said)
    }

    fn info(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(what, Verdict::Info, said)
    }
}

/// Examines the kernel, the permissions, the PMUs and the engine, and prints the table. False if operators cannot be
/// traced.
///
/// # Errors
/// When the table cannot be written.
pub fn doctor(target: Option<&Target>, out: &mut dyn Write) -> io::Result<bool> {
    let (kernel, traces) = kernel::rows();
    let (engine, operators) = engines::rows(target);
    for (title, rows) in [
        ("kernel", kernel),
        ("permissions", permissions::rows()),
        ("counters", pmus::rows(std::path::Path::new("/sys"))),
        ("engine", engine),
        ("what will be traced", verdicts(traces, operators)),
    ] {
        writeln!(out, "{title}")?;
        let width = rows.iter().map(|r| r.what.chars().count()).max().unwrap_or(0);
        for row in rows {
            let verdict = match row.verdict {
                Verdict::Yes => "yes",
                Verdict::No => "NO ",
                Verdict::Info => "   ",
            };
            writeln!(out, "  {verdict}  {:width$}  {}", row.what, row.said)?;
        }
        writeln!(out)?;
    }
    Ok(traces && operators != Some(false))
}

fn verdicts(traces: bool, operators: Option<bool>) -> Vec<Row> {
    let row = match (traces, operators) {
        (false, _) => Row::no("engines", "nothing can be traced on this kernel: see the rows with NO"),
        (true, Some(true)) => Row::yes("this engine", "see the rows above for what is traced"),
        (true, Some(false)) => Row::no("this engine", "its operators cannot be traced: see the rows with NO"),
        (true, None) => Row::yes("engines", "name one to examine it: --pid PID or --name NAME"),
    };
    vec![row]
}
