//! The result of a capture or a recording: text, or an object for programs.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::args::format::Format;
use crate::capture::live::LinkReport;
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
    summary: Summary,
}

impl EngineResult {
    pub(super) fn new(pid: Option<u32>, folder: &Path, files: Vec<String>, summary: Summary) -> Self {
        Self { pid, folder: folder.display().to_string(), files, summary }
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

/// The last line: where the files are.
pub(super) fn files(only: &[String], folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    let names = if only.is_empty() { "open report.html".to_owned() } else { only.join(", ") };
    writeln!(out, "\nwritten to {}: {names}", folder.display())
}
