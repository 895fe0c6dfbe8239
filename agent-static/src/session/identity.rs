//! What a session and its machine are called.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};

use crate::error::{Diagnostic, Result, log};

/// Sixteen random bytes, by which a host that comes back knows the session.
///
/// # Errors
/// Where there is no randomness: a name that another session has too would join their recordings.
pub(super) fn nonce() -> Result<[u8; 16]> {
    const FROM: &str = "/dev/urandom";
    let mut nonce = [0; 16];
    let read = File::open(FROM).and_then(|mut f| f.read_exact(&mut nonce));
    read.map_err(|e| {
        let help =
            "the session needs a name of its own: let the agent see /dev (a container or chroot may hide it)";
        Diagnostic::new(format!("reading {FROM}"), e, help)
    })?;
    Ok(nonce)
}

/// What the machine calls itself: the device tree's model on boards, /proc/cpuinfo elsewhere. Empty, and the terminal says
/// why, when neither can be read.
pub(super) fn cpu_model() -> String {
    const DEVICE_TREE: &str = "/proc/device-tree/model";
    const CPUINFO: &str = "/proc/cpuinfo";
    let unreadable = |path: &str, e: &std::io::Error| {
        log(&format!("reading {path}: {e}\n  the recording does not name this machine's processor"));
    };
    match fs::read_to_string(DEVICE_TREE) {
        Ok(model) => {
            let model = model.trim_end_matches('\0').trim();
            if !model.is_empty() {
                return model.to_owned();
            }
        }
        // A PC has none.
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => unreadable(DEVICE_TREE, &e),
    }
    match fs::read_to_string(CPUINFO) {
        Ok(text) => {
            let line = text.lines().find(|l| l.starts_with("model name"));
            // Arm's kernels print none.
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
