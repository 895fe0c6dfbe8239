//! The command line: the only module with clap, files, sockets and the terminal.
//!
//! ```text
//! analyze [--board B] [SOURCE]   source ─▶ decode ─▶ ingest ─▶ analyses ─▶ views in OUT, summary on the terminal
//! analyze PIECE... | FOLDER      a recording in pieces
//! analyze inspect FILE           all frames with their offsets
//! analyze boards [NAME]          the board profiles
//! analyze findings [CODE]         what is looked for, and what each finding means
//! analyze engine PATH...         what would be probed in an engine
//! ```

mod boards;
mod capture;
mod ceilings;
mod cli;
mod counters;
mod diagnostic;
mod engine;
mod findings;
mod gauges;
mod inspect;
mod link;
mod live;
mod progress;
mod receive;
mod record;
mod recording;
mod rotate;
mod write;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use diagnostic::Diagnostic;

/// Its command line, for man pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = |()| ExitCode::SUCCESS;
    let result = match &cli.command {
        Some(Command::Inspect { file }) => inspect::inspect(file).map(done),
        Some(Command::Engine { paths, tables, boards }) => {
            engine::engine(paths, tables == "all", boards.as_deref())
        }
        Some(Command::Findings { code }) => findings::findings(code.as_deref()).map(done),
        Some(Command::Boards { name, boards }) => {
            boards::boards(name.as_deref(), boards.as_deref()).map(done)
        }
        None => record::record(&cli.record).map(done),
    };
    match result {
        Ok(code) => code,
        Err(e) => {
            let _ = writeln!(anstream::stderr(), "{e}");
            ExitCode::FAILURE
        }
    }
}

type Result<T> = std::result::Result<T, Diagnostic>;
