//! `analyze demo`: the report of a kept recording, without a board, root or network; or of a command that is
//! traced on this machine.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Parser;

use crate::capture::rotate::WHOLE;
use crate::cli::{Cli, Demo};
use crate::command::{push, record};
use crate::{Diagnostic, Result, diagnostic, write};

/// A real recording with a cause; tests/data/PROVENANCE.toml describes it.
const SAMPLE: &[u8] = include_bytes!("../../../tests/data/sample.pfi");

/// Writes or makes the recording, and does with it what `analyze RECORDING` does.
pub(crate) fn demo(options: &Demo) -> Result<ExitCode> {
    write::folder(&options.out)?;
    let recording = options.out.join(WHOLE);
    if options.traced.is_empty() {
        fs::write(&recording, SAMPLE).map_err(|e| diagnostic::unwritable(recording.display(), e))?;
    } else {
        trace(&options.traced, &recording)?;
    }
    let words: [OsString; 4] =
        ["analyze".into(), recording.into(), "--out".into(), options.out.clone().into()];
    let mut cli = Cli::try_parse_from(words)
        .map_err(|e| Diagnostic::new("reading the demo", e, "choose another folder with --out"))?;
    cli.record.sample = options.traced.is_empty();
    let status = record::record(&cli.record)?;
    if !options.traced.is_empty() {
        return Ok(status);
    }
    let _ = writeln!(
        anstream::stdout(),
        "\nThis was a kept recording: a small model on two CPUs, while another program had one of them.\nA recording of your own: `analyze push --help` for a board, `sudo analyze demo -- ENGINE ARGUMENTS...` on this machine."
    );
    Ok(status)
}

/// Records the command with the agent for this machine, which comes with `analyze`. The agent itself reports what goes
/// wrong.
fn trace(command: &[OsString], recording: &Path) -> Result<()> {
    let agent = push::agent_here()?;
    let tried = || format!("running {} record", agent.display());
    let mut record = Command::new(&agent);
    record.arg("record").arg("--out").arg(recording).arg("--").args(command);
    let status = record.status().map_err(|e| {
        Diagnostic::new(tried(), e, "the agent runs on Linux; `analyze push --help` is for boards")
    })?;
    // The recording contains what was captured until then, and how the session ended.
    if status.success() || recording.is_file() {
        return Ok(());
    }
    Err(Diagnostic::new(
        tried(),
        status,
        "its message is above; it needs root, and a kernel with BPF: `sudo analyze agent doctor`",
    ))
}
