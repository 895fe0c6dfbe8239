//! Identifiers of a session and its machine.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};

use crate::error::{Diagnostic, Result, log};

/// Sixteen random bytes that identify the session to a host that reconnects.
///
/// # Errors
/// If there are no random bytes: with a duplicate nonce, the host would join two recordings.
pub(super) fn nonce() -> Result<[u8; 16]> {
    const FROM: &str = "/dev/urandom";
    let mut nonce = [0; 16];
    let read = File::open(FROM).and_then(|mut f| f.read_exact(&mut nonce));
    read.map_err(|e| {
        let help =
            "the session needs a unique identifier: give the agent access to /dev (a container or chroot may hide it)";
        Diagnostic::new(format!("reading {FROM}"), e, help)
    })?;
    Ok(nonce)
}

/// The name of the machine: the device-tree model on boards, /proc/cpuinfo elsewhere. Empty if
/// neither can be read, with a log line.
pub(super) fn cpu_model() -> String {
    const DEVICE_TREE: &str = "/proc/device-tree/model";
    const CPUINFO: &str = "/proc/cpuinfo";
    let unreadable = |path: &str, e: &std::io::Error| {
        log(&format!("reading {path}: {e}\n  the recording will not contain the name of the processor"));
    };
    match fs::read_to_string(DEVICE_TREE) {
        Ok(model) => {
            let model = model.trim_end_matches('\0').trim();
            if !model.is_empty() {
                return model.to_owned();
            }
        }
        // PCs have no device tree.
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => unreadable(DEVICE_TREE, &e),
    }
    match fs::read_to_string(CPUINFO) {
        Ok(text) => {
            let line = text.lines().find(|l| l.starts_with("model name"));
            // Arm kernels print no such line.
            line.and_then(|l| l.split_once(':')).map_or_else(String::new, |(_, v)| v.trim().to_owned())
        }
        Err(e) => {
            unreadable(CPUINFO, &e);
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_names_of_their_own() {
        let names = [nonce().ok(), nonce().ok()];
        assert!(names[0].is_some() && names[0] != names[1] && names[0] != Some([0; 16]));
    }
}
