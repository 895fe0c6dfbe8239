//! Any bytes to both sides, in any pieces: what a fuzzer calls. Nothing here panics or reads on after a refusal.

use crate::hello::Refusal;
use crate::initiator::{Initiator, REQUEST_LEN};
use crate::key::Key;
use crate::responder::{Responder, Step};
use crate::{Error, Opener};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The bytes ended before the handshake did.
    Short,
    /// The agent refuses.
    Refused(Refusal),
    /// The host gives up.
    Failed(Error),
    /// The handshake is over. So many bytes of plain text came behind it, and this ended the channel.
    Known(usize, Option<Error>),
}

/// The key that both sides use here.
///
/// # Panics
/// Never: the name is one.
#[must_use]
pub fn key() -> Key {
    Key::new("fuzz", [7; 32]).unwrap_or_else(|_| unreachable!("`fuzz` is the name of a board"))
}

/// Gives the agent's side `bytes`, `piece` at a time (at least one).
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

/// Gives the host's side `bytes` as the answer to a request, `piece` at a time (at least one).
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

/// Gives an opener `bytes`, `piece` at a time.
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
