//! The result of a capture or a recording: text, or an object for programs.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::args::format::Format;
use crate::capture::live::LinkReport;
use crate::write::Written;
use profinfer_schema::Summary;

/// The object.
#[derive(Debug, Serialize)]
pub(crate) struct Recorded {
    pub(super) exit_status: u8,
    /// Files of the recording that was written or read; none of standard input.
    pub(super) recording: Vec<String>,
    /// Files that the results cover: fewer than `recording` if the capture is large.
    pub(super) reported: Vec<String>,
    /// `None` if the recording was not captured now.
    pub(super) link: Option<LinkReport>,
    /// Messages for people, which standard error has too.
    pub(super) messages: Vec<String>,
    /// One result, or one per engine.
    pub(super) results: Vec<EngineResult>,
}

/// The result of one engine.
#[derive(Debug, Serialize)]
pub(crate) struct EngineResult {
    /// The process, if the recording has several engines or --pid names one.
    pid: Option<u32>,
    folder: String,
    /// Names of the files in the folder.
    files: Vec<String>,
    /// A file of the default set that would be large and was not written.
    left_out: Option<&'static str>,
    summary: Summary,
}

impl EngineResult {
    pub(super) fn new(pid: Option<u32>, folder: &Path, written: Written, summary: Summary) -> Self {
        let Written { files, left_out } = written;
        Self { pid, folder: folder.display().to_string(), files, left_out, summary }
    }
}

/// Where results go.
pub(super) enum Output {
    Text(Box<dyn Write>),
    Json(Vec<EngineResult>),
}

impl Output {
    pub(super) fn new(format: Format) -> Self {
        match format {
            Format::Text => Self::Text(Box::new(anstream::stdout().lock())),
            Format::Json => Self::Json(Vec::new()),
        }
    }

    /// Writes text for people; nothing in an object.
    pub(super) fn text(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if let Self::Text(out) = self {
            // A pipe that closes early is no error.
            let _ = write(out);
        }
    }
}

/// The last lines: where the files are.
pub(super) fn files(
    written: &Written,
    only: &[String],
    folder: &Path,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = if only.is_empty() { "open report.html".to_owned() } else { only.join(", ") };
    writeln!(out, "\nwritten to {}: {names}", folder.display())?;
    match written.left_out {
        Some(name) => writeln!(
            out,
            "{name} was not written because it would be large; timeline.pftrace has the same content, \
             --timeline-json writes it"
        ),
        None => Ok(()),
    }
}
