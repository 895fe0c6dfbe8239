//! `profinfer-pages DIR`: man pages and shell completions of `analyze` and `profinfer-agent`, from the very declarations
//! that parse their command lines.
//!
//! ```text
//! DIR/man/analyze.1, analyze-inspect.1, …                       a page for each command
//! DIR/completions/{bash,zsh,fish}/…                             under the names that the shells look for
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: profinfer-pages DIR");
        return ExitCode::FAILURE;
    };
    let commands = [analyze::command_line(), profinfer_agent::cli::Cli::command()];
    for command in commands {
        if let Err(e) = write(&dir, &command) {
            eprintln!(
                "error: the pages of {} could not be written to {}: {e}; name a folder that you may write to",
                command.get_name(),
                dir.display()
            );
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Everything of one program.
fn write(dir: &Path, command: &Command) -> io::Result<()> {
    let man = dir.join("man");
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(command.clone(), &man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let to = dir.join("completions").join(shell.to_string());
        fs::create_dir_all(&to)?;
        clap_complete::generate_to(shell, &mut command.clone(), command.get_name(), &to)?;
    }
    Ok(())
}
