//! Windows.

use std::io;
use std::net::TcpStream;
use std::os::windows::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Whether one connection of `ssh` can carry several commands. That of Windows cannot.
pub(crate) const SSH_SHARES: bool = false;
/// CREATE_NEW_PROCESS_GROUP
const NEW_GROUP: u32 = 0x200;

/// Runs the command, and takes its exit status over.
///
/// # Errors
/// If the command cannot be started.
pub(crate) fn replace(command: &mut Command) -> io::Result<ExitCode> {
    let status = command.status()?;
    Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}

/// Keeps the terminal's Ctrl-C from the program: it is for `analyze`, which ends the program's work.
pub(crate) fn apart(command: &mut Command) {
    command.creation_flags(NEW_GROUP);
}

/// The command that ends a process of this machine.
pub(crate) fn end_process(pid: u32) -> Vec<String> {
    ["taskkill", "/F", "/PID", &pid.to_string()].map(str::to_owned).to_vec()
}

/// Unix sockets: the standard library has none here.
///
/// # Errors
/// Always.
pub(crate) fn unix_socket(_: &str, _: Duration) -> io::Result<TcpStream> {
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "Windows programs cannot open Unix sockets; forward a TCP port",
    ))
}
