//! The program `analyze`: command line, capture, links. The only crate of the host that uses clap,
//! files, sockets and the terminal.
//!
//! ```text
//! analyze [--board B] [SOURCE]   source ─▶ trace ─▶ analysis ─▶ views in OUT, summary on the terminal
//! analyze PIECE... | FOLDER      a recording in pieces
//! analyze demo                   a kept recording, without a board
//! analyze watch [SOURCE]         a capture, live on the terminal
//! analyze inspect FILE           frames and records with their offsets
//! analyze push WAY BOARD         the agent on a board: copied, started, its port forwarded
//! analyze boards [NAME]          the board profiles
//! analyze findings [CODE]        the rules and the meaning of each finding
//! analyze engine PATH...         the places of probes in an engine
//! analyze compare A B            two sets of runs: same work? a difference? what makes it?
//! analyze tune RECORDING         thread count and CPU set: estimated, or measured (FOLDER, --run)
//! analyze predict MODEL.gguf     speed of a model that was not run, from recordings of others
//! analyze export WHAT RECORDING  files for other programs
//! analyze mcp FOLDER             recordings for assistants
//! analyze fleet ...              many recordings, by the program analyze-fleet
//! ```

mod accelerator;
mod analyse;
mod args;
mod board;
mod capture;
mod ceilings;
mod cli;
mod command;
mod diagnostic;
mod foreign;
mod json;
mod progress;
#[cfg(test)]
mod sample;
mod scratch;
mod shell;
mod system;
mod user_state;
mod write;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use profinfer_cli::{Diagnostic, Result};

use cli::{Cli, Command};
use command::{
    agent, backends, boards, compare, demo, engine, export, findings, fleet, inspect, mcp, predict, push,
    record, tune, watch,
};

/// The command line, for man pages and completions.
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
        Some(Command::Demo(options)) => demo::demo(options),
        Some(Command::Push(options)) => push::push(options),
        Some(Command::Mcp(options)) => mcp::mcp(options).map(done),
        Some(Command::Agent { arguments }) => agent::agent(arguments),
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
