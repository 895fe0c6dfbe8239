//! Where the kernel tells of its tracepoints: tracefs, wherever it is mounted, or mounted for the agent alone.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use crate::sys::mount;

/// The folder of tracefs.
#[derive(Debug)]
pub struct Tracefs {
    /// Where its files are.
    pub path: PathBuf,
    /// Where that is, for people.
    pub shown: String,
    /// Mounted for the agent alone; unmounted when dropped.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds it, and mounts it privately where it is not mounted.
    ///
    /// # Errors
    /// What was tried and what the system answered.
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
                let shown = "tracefs, mounted by the agent for itself".to_owned();
                Ok(Self { path, shown, _mount: Some(fd) })
            }
            Err(e) => {
                tried.push(format!("mounting it: {e}"));
                Err(format!(
                    "tracefs, in which the kernel tells of its tracepoints, cannot be had ({}). Mount it (mount -t tracefs \
                     none /sys/kernel/tracing), or give a container that folder; the kernel needs CONFIG_FTRACE and \
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

/// The folders in which it is mounted by `mounts`, the text of /proc/self/mounts: of its own, else in debugfs.
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

/// Spaces, tabs, line ends and backslashes of a path are written in octal.
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
    fn its_own_mounts_come_first_and_old_systems_have_it_in_debugfs() {
        let mounts = "proc /proc proc rw 0 0\nnone /sys/kernel/debug debugfs rw 0 0\nx /my\\040trace\\134 tracefs ro 0 0\nbad\n";
        assert_eq!(folders(mounts), ["/my trace\\", "/sys/kernel/debug/tracing"]);
        assert_eq!(folders(""), [""; 0]);
        assert_eq!(unescaped("\\9\\04"), "\\9\\04");
    }
}
