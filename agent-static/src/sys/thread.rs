//! ptrace(2) of single threads, with what `nix` lacks: real-time signals and restartable sequences.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use nix::libc;

/// How a stopped thread continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// It continues and stays traced.
    On,
    /// It continues to its next system call or to the end of this one.
    ToSystemCall,
    /// It continues untraced.
    Free,
}

/// Only tracees and children of the calling thread: other threads of the agent have separate ones.
const OWN: libc::c_int = libc::__WALL | libc::WNOHANG | libc::__WNOTHREAD;

/// The waitpid(2) status of one thread, without waiting. `None` if there is none yet.
///
/// # Errors
/// The error of the kernel: ECHILD if the thread is gone.
pub fn poll(tid: i32) -> io::Result<Option<i32>> {
    let mut status = 0;
    // SAFETY: The kernel writes one int, which outlives the call.
    match unsafe { libc::waitpid(tid, &raw mut status, OWN) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some(status)),
    }
}

/// The next status of any child or tracee, without waiting. `None` if there is none yet.
///
/// # Errors
/// ECHILD if there is no child or tracee.
pub fn poll_any() -> io::Result<Option<(i32, i32)>> {
    let mut status = 0;
    // SAFETY: As in `poll`.
    match unsafe { libc::waitpid(-1, &raw mut status, OWN) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        tid => Ok(Some((tid, status))),
    }
}

/// A decoded waitpid(2) status. Signals are numbers, because `nix` lacks real-time signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStatus {
    /// Stopped: this signal is pending delivery.
    Signal(i32),
    /// Stopped at a ptrace(2) event, with this signal.
    Event {
        /// SIGTRAP, or the job-control signal.
        signal: i32,
        /// `PTRACE_EVENT_…`.
        event: i32,
    },
    Ended(Exit),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Status(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// The exit status of a shell: 128 plus the number of the signal.
    #[must_use]
    pub const fn shell(self) -> i32 {
        match self {
            Self::Status(status) => status,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Decodes a waitpid(2) status.
#[must_use]
pub const fn wait_status(status: i32) -> WaitStatus {
    let (low, high) = (status & 0xff, status >> 8 & 0xff);
    match (low, status >> 16) {
        (0x7f, 0) => WaitStatus::Signal(high),
        (0x7f, event) => WaitStatus::Event { signal: high, event },
        (0, _) => WaitStatus::Ended(Exit::Status(high)),
        (signal, _) => WaitStatus::Ended(Exit::Signal(signal & 0x7f)),
    }
}

/// Gives the calling thread a separate file table. Of the descriptors from 3 on, it has only
/// `keep`.
///
/// # Errors
/// The error of unshare(2) or close_range(2), which needs Linux 5.9.
pub fn own_files(keep: &File) -> io::Result<()> {
    let keep = keep.as_raw_fd().cast_unsigned();
    // SAFETY: The call takes a number, and changes only the file table of this thread.
    if unsafe { libc::unshare(libc::CLONE_FILES) } == -1 {
        return Err(io::Error::last_os_error());
    }
    for (first, last) in [(3, keep - 1), (keep + 1, libc::c_uint::MAX)] {
        // SAFETY: The call takes three numbers. Files that other threads own stay open: in this
        // table, no code owns any descriptor but `keep`.
        if first <= last && unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Continues a stopped thread, with a signal unless it is 0.
///
/// # Errors
/// The error of the kernel: ESRCH if the thread is gone or not stopped.
pub fn go(tid: i32, how: Go, signal: i32) -> io::Result<()> {
    let request = match how {
        Go::On => libc::PTRACE_CONT,
        Go::ToSystemCall => libc::PTRACE_SYSCALL,
        Go::Free => libc::PTRACE_DETACH,
    };
    // SAFETY: These requests take no pointers: the last argument is the signal's number.
    let answer = unsafe { libc::ptrace(request, tid, 0usize, signal as usize) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sends a signal to one thread. A thread that is gone is no error.
pub fn signal_thread(pid: u32, tid: i32, signal: i32) {
    // SAFETY: The call takes three numbers.
    let _ = unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, signal) };
}

/// Marks stops at system calls, so that they differ from a SIGTRAP. `also` stays set.
///
/// # Errors
/// As [`go`].
pub fn mark_system_calls(tid: i32, mark: bool, also: i32) -> io::Result<()> {
    let options = also | if mark { libc::PTRACE_O_TRACESYSGOOD } else { 0 };
    // SAFETY: This request takes no pointers: the last argument is a set of bits.
    let answer = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, tid, 0usize, options as usize) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Address of the `struct rseq` of the thread. 0: it registered none, or the kernel has no rseq.
/// `None`: the kernel cannot report it (before Linux 5.13).
#[must_use]
pub fn restartable(tid: i32) -> Option<u64> {
    /// include/uapi/linux/ptrace.h.
    const GET_RSEQ_CONFIGURATION: libc::c_uint = 0x420f;
    /// `struct ptrace_rseq_configuration`: pointer, size, signature, flags, padding.
    #[repr(C)]
    #[derive(Default)]
    struct Configuration {
        pointer: u64,
        rest: [u32; 4],
    }
    let mut configuration = Configuration::default();
    // SAFETY: The kernel writes at most the number of bytes in the third argument, and they outlive
    // the call.
    let answer = unsafe {
        libc::ptrace(GET_RSEQ_CONFIGURATION as _, tid, size_of::<Configuration>(), &raw mut configuration)
    };
    (answer > 0).then_some(configuration.pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        assert_eq!(wait_status(0x2_00), WaitStatus::Ended(Exit::Status(2)));
        assert_eq!(wait_status(9), WaitStatus::Ended(Exit::Signal(9)));
        assert_eq!(wait_status(0x80 | 11), WaitStatus::Ended(Exit::Signal(11)), "with a core");
        assert_eq!(wait_status(34 << 8 | 0x7f), WaitStatus::Signal(34), "of real time");
        assert_eq!(wait_status(128 << 16 | 5 << 8 | 0x7f), WaitStatus::Event { signal: 5, event: 128 });
    }
}
