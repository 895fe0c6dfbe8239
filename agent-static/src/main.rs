//! `profinfer-agent`: see [`profinfer_agent::cli`].

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use profinfer_agent::{cli::Cli, commands};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(&cli.command) {
        Ok(status) => ExitCode::from(u8::try_from(status).unwrap_or(1)),
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "error: {e}");
            commands::report_error(cli.command.format(), &e);
            ExitCode::FAILURE
        }
    }
}
