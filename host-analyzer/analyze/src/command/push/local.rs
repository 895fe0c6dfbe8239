//! What differs between systems of the host. Everything else of `push` runs on all of them.

use std::process::Command;

/// Whether one connection of `ssh` can carry several commands. That of Windows cannot.
pub(super) const SSH_SHARES: bool = cfg!(unix);

/// Keeps the terminal's Ctrl-C from the program: it is for `analyze`, which ends the program's work.
pub(super) fn apart(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, NEW_GROUP);
}

/// CREATE_NEW_PROCESS_GROUP
#[cfg(windows)]
const NEW_GROUP: u32 = 0x200;

/// The command that ends a process of this machine.
pub(super) fn end_process(pid: u32) -> Vec<String> {
    let words: &[&str] = if cfg!(windows) { &["taskkill", "/F", "/PID"] } else { &["kill", "-TERM"] };
    words.iter().map(|word| (*word).to_owned()).chain([pid.to_string()]).collect()
}
