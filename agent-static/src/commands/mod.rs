//! The commands.

#[cfg(feature = "bench")]
mod bench;
mod doctor;
mod engine;
mod json;
mod key;
mod record;
#[cfg(feature = "direct")]
mod repair;
mod serve;

use crate::cli::{Command, Format};
use crate::error::{Diagnostic, Result};
use crate::session::Summary;

/// Process name to wait for if neither the host nor the command line names a target.
const DEFAULT_NAME: &str = "llama*";

/// Runs a command. The returned number is the exit status.
///
/// # Errors
/// The diagnostic to show.
pub fn run(command: &Command) -> Result<i32> {
    match command {
        Command::Serve(options) => serve::serve(options),
        Command::Keygen(options) => key::keygen(options),
        Command::Record(options) => record::record(options),
        #[cfg(feature = "bench")]
        Command::Bench(options) => bench::bench(options),
        #[cfg(feature = "direct")]
        Command::Repair(options) => repair::repair(options),
        Command::Doctor(options) => doctor::doctor(options),
        Command::Engine { targets, tables, format } => {
            engine::engine(targets, tables == "all", format.format)
        }
    }
}

/// Reports the error of a command to programs; people have read it on standard error.
pub fn report_error(format: Format, error: &Diagnostic) {
    if format == Format::Json {
        // Where standard output cannot be written, the exit status is all that is left.
        let _ = json::print(&json::Failed { schema: json::SCHEMA, error });
    }
}

/// Exit status if nothing was traced and no program that the agent started failed.
const NOTHING_TRACED: i32 = 3;

/// The agent's exit status is that of the program that it started.
fn status(summary: &Summary) -> i32 {
    let own = if summary.nothing.is_some() { NOTHING_TRACED } else { 0 };
    summary.status.filter(|status| *status != 0).unwrap_or(own)
}
