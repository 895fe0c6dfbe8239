//! Sleeping, and what wakes the agent: signals and the ring buffer.

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

/// The signals of the agent, read from a descriptor.
#[derive(Debug)]
pub struct Signals {
    fd: SignalFd,
    ending: Cell<bool>,
}

impl Signals {
    /// Blocks the signals that end a session, SIGCHLD and SIGXFSZ, and reads them from now on.
    ///
    /// # Errors
    /// If the kernel provides no descriptor.
    pub fn new() -> Result<Self> {
        let mut set = SigSet::empty();
        for signal in ENDING {
            set.add(signal);
        }
        // SIGCHLD reports the stops of watched processes: it ends a sleep.
        set.add(Signal::SIGCHLD);
        // A file that reaches the limit of a shell (`ulimit -f`) kills its writer. If the signal is
        // blocked, write(2) fails instead.
        set.add(Signal::SIGXFSZ);
        set.thread_block().map_err(failed)?;
        let fd =
            SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(failed)?;
        Ok(Self { fd, ending: Cell::new(false) })
    }

    /// True if a signal requested the end.
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

    /// Sleeps until a signal arrives or `fd` is readable, at most `limit`; without a limit,
    /// indefinitely.
    pub fn wait(&self, fd: BorrowedFd<'_>, limit: Option<Duration>) {
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN), PollFd::new(fd, PollFlags::POLLIN)];
        let timeout =
            limit.map_or(PollTimeout::NONE, |l| PollTimeout::try_from(l).unwrap_or(PollTimeout::ZERO));
        let _ = poll(&mut fds, timeout);
    }
}

/// What the loop of a session sleeps on.
#[derive(Debug)]
pub struct Sleeper<'s> {
    signals: &'s Signals,
    events: Epoll,
}

impl<'s> Sleeper<'s> {
    /// Sleeps on signals and on the ring buffer.
    ///
    /// # Errors
    /// If the kernel provides no descriptor.
    pub fn new(signals: &'s Signals, ring: BorrowedFd<'_>) -> Result<Self> {
        let events = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(failed)?;
        // Edge-triggered: the agent wakes up when the kernel notifies it, not because the ring has
        // data.
        events.add(ring, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0)).map_err(failed)?;
        Ok(Self { signals, events })
    }

    /// Sleeps for `limit`, or until something happens.
    pub fn sleep(&self, limit: Duration) {
        self.signals.wait(self.events.0.as_fd(), Some(limit));
        let mut events = [EpollEvent::empty(); 2];
        let _ = self.events.wait(&mut events, 0u8);
    }
}
