//! Sleeping, and what wakes the agent: signals and the kernel's ring buffer.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::error::{Diagnostic, Result};

/// Signals that end a session.
const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

fn failed(e: nix::Error) -> Diagnostic {
    Diagnostic::new("waiting for signals and events", e.desc(), "check `ulimit -n` and free memory")
}

/// The agent's signals, read as data.
#[derive(Debug)]
pub struct Signals {
    fd: SignalFd,
    ending: Cell<bool>,
}

impl Signals {
    /// Blocks the signals that end a session, SIGCHLD and SIGXFSZ, and reads them from now on.
    ///
    /// # Errors
    /// When the kernel gives no descriptor.
    pub fn new() -> Result<Self> {
        let mut set = SigSet::empty();
        for signal in ENDING {
            set.add(signal);
        }
        // Stops of watched processes are told by SIGCHLD: it ends a sleep.
        set.add(Signal::SIGCHLD);
        // A file that reaches the limit of a shell (`ulimit -f`) kills who writes it. Blocked, writing answers that it is too large.
        set.add(Signal::SIGXFSZ);
        set.thread_block().map_err(failed)?;
        let fd =
            SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(failed)?;
        Ok(Self { fd, ending: Cell::new(false) })
    }

    /// A signal asked the agent to end.
    #[must_use]
    pub fn asked_to_end(&self) -> bool {
        while let Ok(Some(info)) = self.fd.read_signal() {
            let number = info.ssi_signo.cast_signed();
            if ENDING.iter().any(|s| *s as i32 == number) {
                self.ending.set(true);
            }
        }
        self.ending.get()
    }

    /// Sleeps until a signal arrives or `fd` is readable, `limit` at most; without limit for ever.
    pub fn wait(&self, fd: BorrowedFd<'_>, limit: Option<Duration>) {
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN), PollFd::new(fd, PollFlags::POLLIN)];
        let timeout =
            limit.map_or(PollTimeout::NONE, |l| PollTimeout::try_from(l).unwrap_or(PollTimeout::ZERO));
        let _ = poll(&mut fds, timeout);
    }
}

/// What a session's loop sleeps on.
#[derive(Debug)]
pub struct Sleeper<'s> {
    signals: &'s Signals,
    events: Epoll,
}

impl<'s> Sleeper<'s> {
    /// Sleeps on signals and on the kernel's ring buffer.
    ///
    /// # Errors
    /// When the kernel gives no descriptor.
    pub fn new(signals: &'s Signals, ring: BorrowedFd<'_>) -> Result<Self> {
        let events = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(failed)?;
        // Edge-triggered: the agent wakes up when the kernel notifies it, not because data is in the ring.
        events.add(ring, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0)).map_err(failed)?;
        Ok(Self { signals, events })
    }

    /// Sleeps for `limit`, less when something happens.
    pub fn sleep(&self, limit: Duration) {
        self.signals.wait(self.events.0.as_fd(), Some(limit));
        let mut events = [EpollEvent::empty(); 2];
        let _ = self.events.wait(&mut events, 0u8);
    }
}
