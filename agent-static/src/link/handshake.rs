//! One connection whose host is not known yet. Nothing here waits, and nothing is allocated before the host's request is whole.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use profinfer_secure::{Key, Opener, Refusal, Responder, Sealer, Step};
use profinfer_wire::WIRE_VERSION;

use super::pending::{LIMIT, PendingConnection};

/// A handshake with who knocks.
#[derive(Debug)]
pub(super) struct Handshake {
    link: File,
    name: String,
    since: Instant,
    responder: Responder,
}

/// What came of it so far.
pub(super) enum HandshakeStep {
    /// It goes on.
    Waiting(Handshake),
    /// Who is there has the key.
    Known { link: File, name: String, sealer: Sealer, opener: Opener },
    /// The connection is closed.
    Gone { name: String, why: String },
}

impl Handshake {
    pub(super) fn new(caller: PendingConnection) -> Self {
        let PendingConnection { link, name, since } = caller;
        Self { link, name, since, responder: Responder::new() }
    }

    /// Reads what came and answers it.
    pub(super) fn step(mut self, key: &Key) -> HandshakeStep {
        loop {
            match self.link.read(self.responder.room()) {
                Ok(0) => return self.gone("it closed the connection in the handshake"),
                Ok(n) => match self.responder.filled(n, key, WIRE_VERSION) {
                    Ok(Step::More) => {}
                    // An empty socket takes 48 bytes at once, or its other end is no host.
                    Ok(Step::Answer(answer)) => match self.link.write(&answer) {
                        Ok(n) if n == answer.len() => {}
                        _ => return self.gone("it does not take the answer"),
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
        // A connection that is closed while bytes wait is reset, and the reason is lost with it.
        let mut rest = [0; 1024];
        for _ in 0..64 {
            if !matches!(self.link.read(&mut rest), Ok(1..)) {
                break;
            }
        }
        let why = match why {
            Refusal::KeyWanted => "it came without a key",
            Refusal::WrongKey => "it has another key, or the same for another board or release",
            Refusal::TooSlow => "its handshake took more than two seconds",
            Refusal::Unknown | Refusal::NoKeyHere => "it wants another kind of secure link",
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
