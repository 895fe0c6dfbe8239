//! Feeds arbitrary bytes in arbitrary pieces to both sides, for fuzzing. Nothing here panics or
//! reads on after a refusal.

use crate::hello::Refusal;
use crate::initiator::{Initiator, REQUEST_LEN};
use crate::key::Key;
use crate::responder::{Responder, Step};
use crate::{Error, Opener};

/// The result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The bytes ended before the handshake was complete.
    Short,
    Refused(Refusal),
    /// The host aborted.
    Failed(Error),
    /// The handshake is complete. Number of plain-text bytes after it, and the error that ended the
    /// channel.
    Known(usize, Option<Error>),
}

/// The key that both sides use.
///
/// # Panics
/// Never: the name is valid.
#[must_use]
pub fn key() -> Key {
    Key::new("fuzz", [7; 32]).unwrap_or_else(|_| unreachable!("`fuzz` is the name of a board"))
}

/// Feeds `bytes` to the agent side, `piece` at a time (at least one).
#[must_use]
pub fn responder(bytes: &[u8], piece: usize) -> Outcome {
    let (mut responder, key) = (Responder::new(), key());
    let mut rest = bytes;
    loop {
        let n = take(responder.room(), &mut rest, piece);
        if n == 0 {
            return Outcome::Short;
        }
        match responder.filled(n, &key, 1) {
            Ok(Step::More | Step::Answer(_)) => {}
            Ok(Step::Known(_, mut opener)) => return channel(&mut opener, rest, piece),
            Err(refusal) => return Outcome::Refused(refusal),
        }
    }
}

/// Feeds `bytes` to the host side as the answer to a request, `piece` at a time (at least one).
#[must_use]
pub fn initiator(bytes: &[u8], piece: usize) -> Outcome {
    let mut initiator: Initiator = match Initiator::new(&key(), 1) {
        Ok((initiator, request)) => {
            debug_assert_eq!(request.len(), REQUEST_LEN);
            initiator
        }
        Err(e) => return Outcome::Failed(e),
    };
    let mut rest = bytes;
    loop {
        let n = take(initiator.room(), &mut rest, piece);
        if n == 0 {
            return Outcome::Short;
        }
        initiator = match initiator.filled(n) {
            Ok(Ok(mut connected)) => return channel(&mut connected.opener, rest, piece),
            Ok(Err(more)) => more,
            Err(e) => return Outcome::Failed(e),
        };
    }
}

/// Feeds `bytes` to an opener, `piece` at a time.
#[must_use]
pub fn channel(opener: &mut Opener, mut bytes: &[u8], piece: usize) -> Outcome {
    let mut plain = 0;
    loop {
        let n = take(opener.room(), &mut bytes, piece);
        if n == 0 {
            return Outcome::Known(plain, None);
        }
        if let Err(e) = opener.filled(n) {
            return Outcome::Known(plain, Some(e));
        }
        plain += opener.plain().len();
        opener.consume(opener.plain().len());
    }
}

fn take(room: &mut [u8], bytes: &mut &[u8], piece: usize) -> usize {
    let n = room.len().min(bytes.len()).min(piece.max(1));
    let (now, rest) = bytes.split_at(n);
    room[..n].copy_from_slice(now);
    *bytes = rest;
    n
}
