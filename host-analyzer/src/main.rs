//! `analyze`: see [`host_analyzer::commands`].

use std::process::ExitCode;

fn main() -> ExitCode {
    host_analyzer::commands::main()
}
