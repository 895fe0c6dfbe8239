//! `analyze agent ...`: replaces this process by the agent for this machine, which comes with `analyze`.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use super::push;
use crate::{Diagnostic, Result, system};

pub(crate) fn agent(arguments: &[OsString]) -> Result<ExitCode> {
    let program = push::agent_here()?;
    let mut command = Command::new(&program);
    command.args(arguments);
    system::replace(&mut command).map_err(|e| {
        Diagnostic::new(
            format!("starting {}", program.display()),
            e,
            "the agent runs on Linux only; `analyze push --help` is for boards",
        )
    })
}
