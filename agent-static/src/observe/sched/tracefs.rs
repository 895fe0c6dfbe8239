//! Finds tracefs, in which the kernel describes its tracepoints, or mounts it for the agent alone.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use crate::sys::mount;

#[derive(Debug)]
pub struct Tracefs {
    pub path: PathBuf,
    /// The location for people.
    pub shown: String,
    /// A private mount of the agent; unmounted when dropped.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds tracefs, or mounts it privately if it is not mounted.
    ///
    /// # Errors What was tried and what the system answered.
    pub fn find() -> Result<Self, String> {
        let mounts =
            fs::read_to_string("/proc/self/mounts").map_err(|e| format!("reading /proc/self/mounts: {e}"))?;
        let mut tried = Vec::new();
        for folder in folders(&mounts) {
            match fs::metadata(format!("{folder}/events/sched/sched_switch/format")) {
                Ok(_) => return Ok(Self { path: folder.clone().into(), shown: folder, _mount: None }),
                Err(e) => tried.push(format!("{folder}: {}", answer(&e))),
            }
        }
        match mount::detached(c"tracefs") {
            Ok(fd) => {
                let path = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
                let shown = "tracefs, privately mounted by the agent".to_owned();
                Ok(Self { path, shown, _mount: Some(fd) })
            }
            Err(e) => {
                tried.push(format!("mounting it: {e}"));
                Err(format!(
                    "tracefs, in which the kernel describes its tracepoints, is not available ({}). Mount it (mount -t tracefs \
                     none /sys/kernel/tracing), or pass this folder to a container; the kernel needs CONFIG_FTRACE and \
                     CONFIG_EVENT_TRACING",
                    tried.join("; ")
                ))
            }
        }
    }
}

fn answer(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "it has no events/sched/sched_switch".to_owned(),
        _ => e.to_string(),
    }
}

/// The folders where `mounts`, the text of /proc/self/mounts, has tracefs: as its own mount, or
/// else in debugfs.
fn folders(mounts: &str) -> Vec<String> {
    let of = |kind: &str, below: &str| -> Vec<String> {
        let lines = mounts.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (folder, of) = (words.nth(1)?, words.next()?);
            (of == kind).then(|| unescaped(folder) + below)
        });
        lines.collect()
    };
    let mut all = of("tracefs", "");
    all.extend(of("debugfs", "/tracing"));
    all
}

/// Decodes octal escapes for spaces, tabs, line ends and backslashes of a path.
fn unescaped(path: &str) -> String {
    let mut out = Vec::with_capacity(path.len());
    let mut bytes = path.as_bytes();
    while let [first, rest @ ..] = bytes {
        let digits = |d: &[u8]| std::str::from_utf8(d).ok().and_then(|d| u8::from_str_radix(d, 8).ok());
        match (first, rest.get(..3).and_then(digits)) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                bytes = &rest[3..];
            }
            _ => {
                out.push(*first);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_mounts_precede_debugfs() {
        let mounts = "proc /proc proc rw 0 0\nnone /sys/kernel/debug debugfs rw 0 0\nx /my\\040trace\\134 tracefs ro 0 0\nbad\n";
        assert_eq!(folders(mounts), ["/my trace\\", "/sys/kernel/debug/tracing"]);
        assert_eq!(folders(""), [""; 0]);
        assert_eq!(unescaped("\\9\\04"), "\\9\\04");
    }
}
