//! Forwards the standard error of an engine unchanged, and keeps its last bytes.
//!
//! ```text
//! engine ─ pipe ─▶ a separate process ─▶ the standard error that the agent was started with
//!                  └─ when the engine has ended: its last bytes ─ pipe ─▶ agent
//! ```
//! It is a process, not a thread of the agent. If the agent died, the next line of the engine would
//! go to a pipe without a reader, which kills the engine. This process lives as long as the engine
//! has the pipe open (docs/decisions/stderr-through-a-process.md). It neither allocates nor takes a
//! lock, because it may be forked from a program with several threads.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::{set_name, set_no_new_privs};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe2, read, setsid, write};

use super::privilege::{self, Sets};

/// Number of bytes that are kept.
pub const KEPT: usize = 4096;
/// How long the agent waits for the bytes after the engine has ended. A surviving child of the
/// engine may keep standard error open.
const PATIENCE: Duration = Duration::from_millis(500);

/// The source of the last bytes, available when the engine has ended.
#[derive(Debug)]
pub struct Tail(OwnedFd);

impl Tail {
    /// The last bytes, at most [`KEPT`]. `None` if they did not arrive in time.
    #[must_use]
    pub fn read(self) -> Option<Vec<u8>> {
        let begun = Instant::now();
        let mut file = std::fs::File::from(self.0);
        let (mut bytes, mut some) = (Vec::with_capacity(KEPT), [0; KEPT]);
        loop {
            let left = PATIENCE.checked_sub(begun.elapsed())?;
            let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
            match poll(&mut [PollFd::new(file.as_fd(), PollFlags::POLLIN)], left) {
                Ok(0) => return None,
                Ok(_) => match file.read(&mut some).ok()? {
                    0 => return Some(bytes),
                    n => bytes.extend_from_slice(&some[..n]),
                },
                Err(Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
    }
}

/// Starts the process. Returns the descriptor for the standard error of the engine, and the source
/// of its last bytes.
///
/// # Errors
/// The error of pipe(2), fork(2) or waitpid(2). Then there is no such process.
pub fn begin() -> nix::Result<(OwnedFd, Tail)> {
    let (from, to) = pipe2(OFlag::O_CLOEXEC)?;
    let (tail, tell) = pipe2(OFlag::O_CLOEXEC)?;
    // SAFETY: The child only makes system calls and exits through _exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => Ok((to, Tail(tail))),
            _ => Err(Errno::EAGAIN),
        },
        // Forked twice, so that no waitpid(2) of the agent returns this process.
        // SAFETY: As above.
        ForkResult::Child => match unsafe { fork() } {
            Ok(ForkResult::Child) => {
                pass_on(&from, &tell);
                // SAFETY: _exit is async-signal-safe and runs no handlers of the parent.
                unsafe { libc::_exit(0) }
            }
            forked => {
                // SAFETY: As above.
                unsafe { libc::_exit(i32::from(forked.is_err())) }
            }
        },
    }
}

/// Forwards until no process has the other end of the pipe.
fn pass_on(from: &OwnedFd, tell: &OwnedFd) {
    // Ctrl-C is for the engine, whose last output comes after it.
    let _ = setsid();
    for ignored in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGPIPE, Signal::SIGTTOU] {
        // SAFETY: Ignoring a signal installs no handler.
        let _ = unsafe { signal(ignored, SigHandler::SigIgn) };
    }
    let _ = set_name(c"profinfer-tee");
    let _ = set_no_new_privs();
    let _ = privilege::set(Sets { effective: 0, permitted: 0 });
    if !only_these(from, tell) {
        return;
    }
    // SAFETY: `only_these` put these three in place, or they were there before, and nothing closes
    // them.
    let [from, tell, out] = [0, 1, 2].map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
    let (mut kept, mut total) = ([0; KEPT], 0);
    let mut bytes = [0; KEPT];
    loop {
        match read(from, &mut bytes) {
            Ok(0) => break,
            Ok(n) => {
                for byte in &bytes[..n] {
                    kept[total % KEPT] = *byte;
                    total += 1;
                }
                if !write_all(out, &bytes[..n]) {
                    break;
                }
            }
            Err(Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    let next = total % KEPT;
    let (older, newer) =
        if total > KEPT { (&kept[next..], &kept[..next]) } else { (&[][..], &kept[..total]) };
    let _ = write_all(tell, older) && write_all(tell, newer);
}

/// Closes everything else of the agent: its probes, its link to the host and its recording must end
/// with it. The pipe becomes standard input, the one to the agent standard output.
fn only_these(from: &OwnedFd, tell: &OwnedFd) -> bool {
    // SAFETY: The calls take numbers. No code in this process owns the descriptors that are closed;
    // it uses the three that stay.
    unsafe {
        if libc::dup2(from.as_raw_fd(), 0) == -1 || libc::dup2(tell.as_raw_fd(), 1) == -1 {
            return false;
        }
        // Since Linux 5.9.
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) == -1 {
            for fd in 3..MOST_FILES {
                let _ = libc::close(fd);
            }
        }
    }
    true
}

/// Number of descriptors that are closed one by one on older kernels.
const MOST_FILES: i32 = 65_536;

/// False if no process reads it any more. Then the engine must receive that error itself.
fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match write(to, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => {
                let _ = poll(&mut [PollFd::new(to, PollFlags::POLLOUT)], PollTimeout::NONE);
            }
            Err(Errno::EPIPE) => return false,
            // A full disk costs the engine its lines, not its life.
            Err(_) => return true,
        }
    }
    true
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_in_order() {
        for lines in [0, 3, 100, 1000] {
            let (to, tail) = begin().unwrap();
            let text: String = (0..lines).map(|i| format!("line {i}\n")).collect();
            // Standard error is that of the test. Nothing of it may be lost or blocked.
            assert!(write_all(to.as_fd(), text.as_bytes()));
            drop(to);
            let kept = tail.read().unwrap();
            assert_eq!(kept, &text.as_bytes()[text.len().saturating_sub(KEPT)..], "{lines}");
        }
    }

    #[test]
    fn what_is_held_open_is_not_waited_for() {
        let (to, tail) = begin().unwrap();
        assert_eq!(tail.read(), None);
        drop(to);
    }
}
