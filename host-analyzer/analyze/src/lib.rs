//! The program `analyze`: command line, capture, links. The only crate of the host with clap, files, sockets and the terminal.
//!
//! ```text
//! analyze [--board B] [SOURCE]   source ─▶ trace ─▶ analysis ─▶ views in OUT, summary on the terminal
//! analyze PIECE... | FOLDER      a recording in pieces
//! analyze watch [SOURCE]         a capture, live on the terminal
//! analyze inspect FILE           all frames with their offsets
//! analyze boards [NAME]          the board profiles
//! analyze findings [CODE]         what is looked for, and what each finding means
//! analyze engine PATH...         what would be probed in an engine
//! analyze compare A B           two sides of runs: the same work, a difference, what it is made of
//! analyze tune RECORDING        which threads and CPUs to take, foreseen; of a FOLDER or with --run, tried
//! analyze predict MODEL.gguf    the speed of a model that was not run, from recordings of others
//! analyze export WHAT RECORDING  files that other programs read
//! analyze fleet ...             many recordings, by the program analyze-fleet
//! ```

mod accelerator;
mod analyse;
mod args;
mod capture;
mod ceilings;
mod cli;
mod command;
mod diagnostic;
mod json;
mod progress;
#[cfg(test)]
mod sample;
mod scratch;
mod write;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use profinfer_cli::{Diagnostic, Result};

use cli::{Cli, Command};
use command::{
    backends, boards, compare, engine, export, findings, fleet, inspect, predict, record, tune, watch,
};

/// Its command line, for man pages and completions.
#[must_use]
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let format = cli.format();
    let done = |()| ExitCode::SUCCESS;
    let result = match &cli.command {
        Some(Command::Inspect { file, .. }) => inspect::inspect(file, format).map(done),
        Some(Command::Engine { paths, tables, boards, .. }) => {
            engine::engine(paths, tables == "all", boards.as_deref(), format)
        }
        Some(Command::Compare(options)) => compare::compare(options),
        Some(Command::Backends { recordings, accelerator_profile, out, .. }) => {
            backends::backends(recordings, accelerator_profile, out, format).map(done)
        }
        Some(Command::Predict(options)) => predict::predict(options),
        Some(Command::Tune(options)) => tune::tune(options).map(done),
        Some(Command::Findings { code, .. }) => findings::findings(code.as_deref(), format).map(done),
        Some(Command::Export { what: cli::Export::ExpertPins { sources, context, out, .. } }) => {
            export::pins(sources, context.as_deref(), out.as_deref(), format).map(done)
        }
        Some(Command::Export { what: cli::Export::Ftrace { sources, out, .. } }) => {
            export::ftrace(sources, out.as_deref(), format).map(done)
        }
        Some(Command::Boards { name, boards, .. }) => {
            boards::boards(name.as_deref(), boards.as_deref(), format).map(done)
        }
        Some(Command::Fleet { arguments }) => fleet::fleet(arguments),
        Some(Command::Watch(options)) => watch::watch((**options).clone()),
        None => record::record(&cli.record),
    };
    match result {
        Ok(code) => code,
        Err(e) => {
            if format.is_json() {
                json::print_error(&e);
            } else {
                let _ = writeln!(anstream::stderr(), "error: {e}");
            }
            ExitCode::FAILURE
        }
    }
}
