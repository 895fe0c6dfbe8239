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
use crate::confine;
use crate::error::{Diagnostic, Result};
use crate::session::Summary;

/// Used if neither the host nor the command line names a target.
const DEFAULT_NAME: &str = "llama*";

/// Runs a command and returns the exit status.
///
/// # Errors
/// The diagnostic to print.
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

/// Prints the error as JSON. Standard error already has it for people.
pub fn report_error(format: Format, error: &Diagnostic) {
    if format == Format::Json {
        // If standard output cannot be written, only the exit status remains.
        let _ = json::print(&json::Failed { schema: json::SCHEMA, error });
    }
}

/// Refuses to start without the rights to trace, so that the error does not wait for a host.
fn check_rights() -> Result<()> {
    if confine::may_trace() {
        return Ok(());
    }
    Err(Diagnostic::new(
        "preparing to trace",
        format!("user {} has neither CAP_SYS_ADMIN nor CAP_BPF and CAP_PERFMON", nix::unistd::geteuid()),
        "run the agent as root: sudo profinfer-agent …",
    ))
}

/// Exit status if nothing was traced and no program that the agent started failed.
const NOTHING_TRACED: i32 = 3;

/// The exit status of the program that the agent started, if it failed; else that of the session.
fn status(summary: &Summary) -> i32 {
    let own = if summary.nothing.is_some() { NOTHING_TRACED } else { 0 };
    summary.status.filter(|status| *status != 0).unwrap_or(own)
}
