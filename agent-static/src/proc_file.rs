//! Small kernel files that may be absent: absence is a value, every other failure is reported.

use std::fs;
use std::io::{self, ErrorKind};

use nix::libc::ESRCH;

use crate::error::log;

/// The bytes of a file. `None` if it does not exist.
///
/// # Errors
/// If it exists and cannot be read.
pub fn optional(path: &str) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        // ESRCH: the process ended while its file was open.
        Err(e) if e.kind() == ErrorKind::NotFound || e.raw_os_error() == Some(ESRCH) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The bytes of a file of a process. `None` if the process has ended. `None` with a log line if the
/// file cannot be read.
#[must_use]
pub fn of_process(path: &str) -> Option<Vec<u8>> {
    optional(path).unwrap_or_else(|e| {
        log(&format!(
            "reading {path}: {e}\n  run the agent as root, in the PID namespace of the engine or above it"
        ));
        None
    })
}

/// The same as text. Invalid UTF-8 is replaced.
#[must_use]
pub fn text_of_process(path: &str) -> Option<String> {
    of_process(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_no_error_and_what_cannot_be_read_is_one() {
        assert_eq!(optional("/proc/4194305/comm").ok(), Some(None));
        assert!(optional("/proc/self/comm").is_ok_and(|c| c.is_some_and(|c| !c.is_empty())));
        assert!(optional("/proc/self").is_err(), "a folder");
        assert_eq!(of_process("/proc/self"), None);
    }
}
