//! The command line: the only module with clap, files, sockets and the terminal.
//!
//! ```text
//! analyze [--board B] [SOURCE]   source ─▶ decode ─▶ ingest ─▶ analyses ─▶ views in OUT, summary on the terminal
//! analyze inspect FILE           all frames with their offsets
//! analyze boards [NAME]          the board profiles
//! ```

mod boards;
mod cli;
mod counters;
mod diagnostic;
mod gauges;
mod inspect;
mod link;
mod live;
mod progress;
mod receive;
mod record;
mod write;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use diagnostic::Diagnostic;

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Some(Command::Inspect { file }) => inspect::inspect(file),
        Some(Command::Boards { name, boards }) => boards::boards(name.as_deref(), boards.as_deref()),
        None => record::record(&cli.record),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(anstream::stderr(), "{e}");
            ExitCode::FAILURE
        }
    }
}

type Result<T> = std::result::Result<T, Diagnostic>;
