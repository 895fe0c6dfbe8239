//! Connections that have not sent a complete request yet.
//!
//! A host sends its request as soon as it is connected. A connection that sends nothing, or a part
//! of a request, waits here and blocks no other one. Nothing is read here: the kernel holds the
//! bytes until the request is complete.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use profinfer_secure::hello::HELLO;
use profinfer_secure::initiator::REQUEST_LEN;

/// Maximum number of pending connections. One more evicts the oldest.
pub(super) const MAX_PENDING: usize = 32;

/// Time limit of a handshake, from the connection on.
pub(super) const LIMIT: Duration = Duration::from_secs(2);

/// The pending connections, oldest first.
#[derive(Debug)]
pub(super) struct PendingConnections(VecDeque<PendingConnection>);

/// A connection that has not sent a complete request.
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

    /// Adds a connection.
    pub(super) fn admit(&mut self, link: File, name: String) {
        self.0.push_back(PendingConnection { link, name, since: Instant::now() });
    }

    /// Removes the first connection that has a complete request or invalid bytes, is closed, or has
    /// timed out.
    pub(super) fn ready(&mut self) -> Option<PendingConnection> {
        let at = self.0.iter().position(PendingConnection::ready)?;
        self.0.remove(at)
    }

    /// Removes the oldest connection.
    pub(super) fn oldest(&mut self) -> Option<PendingConnection> {
        self.0.pop_front()
    }

    /// The newest connection: the one that is most likely a host.
    pub(super) fn newest(&self) -> Option<BorrowedFd<'_>> {
        self.0.back().map(|connection| connection.link.as_fd())
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
