//! The handshake with one connection whose host is not authenticated yet. Nothing here blocks, and
//! nothing is allocated before the request is complete.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use profinfer_secure::{Key, Opener, Refusal, Responder, Sealer, Step};
use profinfer_wire::WIRE_VERSION;

use super::pending::{LIMIT, PendingConnection};

/// A handshake in progress.
#[derive(Debug)]
pub(super) struct Handshake {
    link: File,
    name: String,
    since: Instant,
    responder: Responder,
}

/// The state after a step.
pub(super) enum HandshakeStep {
    /// The handshake is not complete.
    Waiting(Handshake),
    /// The host holds the key.
    Known { link: File, name: String, sealer: Sealer, opener: Opener },
    /// The connection is closed.
    Gone { name: String, why: String },
}

impl Handshake {
    pub(super) fn new(caller: PendingConnection) -> Self {
        let PendingConnection { link, name, since } = caller;
        Self { link, name, since, responder: Responder::new() }
    }

    /// Reads the available bytes and answers them.
    pub(super) fn step(mut self, key: &Key) -> HandshakeStep {
        loop {
            match self.link.read(self.responder.room()) {
                Ok(0) => return self.gone("it closed the connection during the handshake"),
                Ok(n) => match self.responder.filled(n, key, WIRE_VERSION) {
                    Ok(Step::More) => {}
                    // An empty send buffer accepts 48 bytes at once; otherwise the other end is no
                    // host.
                    Ok(Step::Answer(answer)) => match self.link.write(&answer) {
                        Ok(n) if n == answer.len() => {}
                        _ => return self.gone("it did not read the answer"),
                    },
                    Ok(Step::Known(sealer, opener)) => {
                        return HandshakeStep::Known { link: self.link, name: self.name, sealer, opener };
                    }
                    Err(why) => return self.refuse(why),
                },
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return match self.since.elapsed() < LIMIT {
                        true => HandshakeStep::Waiting(self),
                        false => self.refuse(Refusal::TooSlow),
                    };
                }
                Err(e) => return self.gone(&e.to_string()),
            }
        }
    }

    fn refuse(mut self, why: Refusal) -> HandshakeStep {
        let _ = self.link.write(&why.to_bytes());
        // Closing a connection with unread bytes resets it, and the reason would be lost.
        let mut rest = [0; 1024];
        for _ in 0..64 {
            if !matches!(self.link.read(&mut rest), Ok(1..)) {
                break;
            }
        }
        let why = match why {
            Refusal::KeyWanted => "it came without a key",
            Refusal::WrongKey => "it has another key, or the same key for another board or release",
            Refusal::TooSlow => "its handshake took more than two seconds",
            Refusal::Unknown | Refusal::NoKeyHere => "it requests another kind of secure link",
        };
        self.gone(why)
    }

    fn gone(self, why: &str) -> HandshakeStep {
        HandshakeStep::Gone { name: self.name, why: why.to_owned() }
    }
}

impl AsFd for Handshake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}
