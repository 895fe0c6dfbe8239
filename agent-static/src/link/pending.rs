//! Connections that have not said anything whole yet.
//!
//! A host sends its request as soon as it is connected. Who says nothing, or half of something, waits here and keeps nobody out: the
//! handshake is with somebody whose request is there. Nothing is read here; the kernel holds what came.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use profinfer_secure::hello::HELLO;
use profinfer_secure::initiator::REQUEST_LEN;

/// Connections that wait. One more, and the one that has waited longest goes.
pub(super) const MAX_PENDING: usize = 32;

/// How long a handshake may take as a whole, from the connection on.
pub(super) const LIMIT: Duration = Duration::from_secs(2);

/// Who waits, in the order in which they came.
#[derive(Debug)]
pub(super) struct PendingConnections(VecDeque<PendingConnection>);

/// A connection of which nothing is known.
#[derive(Debug)]
pub(super) struct PendingConnection {
    pub(super) link: File,
    pub(super) name: String,
    pub(super) since: Instant,
}

impl PendingConnections {
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(MAX_PENDING))
    }

    pub(super) fn full(&self) -> bool {
        self.0.len() >= MAX_PENDING
    }

    /// Somebody comes.
    pub(super) fn admit(&mut self, link: File, name: String) {
        self.0.push_back(PendingConnection { link, name, since: Instant::now() });
    }

    /// The first whose request is whole, who has said what no host says, is gone, or has had its time.
    pub(super) fn ready(&mut self) -> Option<PendingConnection> {
        let at = self.0.iter().position(PendingConnection::ready)?;
        self.0.remove(at)
    }

    /// Who has waited longest.
    pub(super) fn oldest(&mut self) -> Option<PendingConnection> {
        self.0.pop_front()
    }

    /// Who came last: the one that may be a host.
    pub(super) fn newest(&self) -> Option<BorrowedFd<'_>> {
        self.0.back().map(|caller| caller.link.as_fd())
    }
}

impl PendingConnection {
    fn ready(&self) -> bool {
        let mut bytes = [0; REQUEST_LEN];
        match recv(self.link.as_raw_fd(), &mut bytes, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
            Err(Errno::EAGAIN | Errno::EINTR) => self.since.elapsed() >= LIMIT,
            Err(_) | Ok(0) => true,
            Ok(n) => {
                let hello = n.min(HELLO.len());
                n >= REQUEST_LEN || bytes[..hello] != HELLO[..hello] || self.since.elapsed() >= LIMIT
            }
        }
    }
}
