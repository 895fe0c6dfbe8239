//! `analyze demo`: the report of a kept recording, without a board, root or network.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::capture::rotate::WHOLE;
use crate::cli::{Cli, Demo};
use crate::command::record;
use crate::{Diagnostic, Result, diagnostic, write};

/// A real recording with a cause; tests/data/PROVENANCE.toml describes it.
const SAMPLE: &[u8] = include_bytes!("../../../tests/data/sample.pfi");

/// Writes the recording, and does with it what `analyze RECORDING` does.
pub(crate) fn demo(options: &Demo) -> Result<ExitCode> {
    write::folder(&options.out)?;
    let recording = options.out.join(WHOLE);
    fs::write(&recording, SAMPLE).map_err(|e| diagnostic::unwritable(recording.display(), e))?;
    let words: [OsString; 4] =
        ["analyze".into(), recording.into(), "--out".into(), options.out.clone().into()];
    let cli = Cli::try_parse_from(words)
        .map_err(|e| Diagnostic::new("reading the demo", e, "choose another folder with --out"))?;
    let status = record::record(&cli.record)?;
    let _ = writeln!(
        anstream::stdout(),
        "\nThis was a kept recording: a small model on two CPUs, while another program had one of them.\nA recording of your own: `analyze push --help` for a board, `profinfer-agent record --help` on this machine."
    );
    Ok(status)
}
