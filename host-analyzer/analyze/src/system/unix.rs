//! Linux and macOS.

use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Whether one connection of `ssh` can carry several commands.
pub(crate) const SSH_SHARES: bool = true;

/// Replaces this process with the command.
///
/// # Errors
/// If the command cannot be started; otherwise this does not return.
pub(crate) fn replace(command: &mut Command) -> io::Result<ExitCode> {
    Err(command.exec())
}

/// Keeps the terminal's Ctrl-C from the program: it is for `analyze`, which ends the program's work.
pub(crate) fn apart(command: &mut Command) {
    command.process_group(0);
}

/// The command that ends a process of this machine.
pub(crate) fn end_process(pid: u32) -> Vec<String> {
    ["kill", "-TERM", &pid.to_string()].map(str::to_owned).to_vec()
}

/// Connects to a Unix socket. Reads wait for `patience` at most.
///
/// # Errors
/// If the system does.
pub(crate) fn unix_socket(path: &str, patience: Duration) -> io::Result<UnixStream> {
    let socket = match path.strip_prefix('@') {
        Some(name) => abstract_socket(name)?,
        None => UnixStream::connect(path)?,
    };
    socket.set_read_timeout(Some(patience))?;
    Ok(socket)
}

/// Connects to a socket that has a name, but no file.
#[cfg(target_os = "linux")]
fn abstract_socket(name: &str) -> io::Result<UnixStream> {
    use std::os::linux::net::SocketAddrExt;
    UnixStream::connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn abstract_socket(_: &str) -> io::Result<UnixStream> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has sockets without a file"))
}
