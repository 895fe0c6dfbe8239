//! Both sides of a handshake, without a link.
#![allow(dead_code, reason = "each test file uses a part")]

use profinfer_secure::channel::FRAME_OVERHEAD;
use profinfer_secure::initiator::{Connected, REQUEST_LEN};
use profinfer_secure::{Error, Initiator, Key, Opener, Refusal, Responder, Sealer, Step};

pub(crate) const WIRE: u16 = 1;

pub(crate) fn key() -> Key {
    Key::new("board-1", [9; 32]).unwrap()
}

/// Feeds the agent side all bytes that it accepts.
pub(crate) fn give(responder: &mut Responder, mut bytes: &[u8], key: &Key) -> Result<Step, Refusal> {
    loop {
        let room = responder.room();
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
        bytes = &bytes[n..];
        match responder.filled(n, key, WIRE)? {
            Step::More if !bytes.is_empty() => {}
            step => return Ok(step),
        }
    }
}

/// Feeds the host side all bytes that it accepts. `None` if it needs more.
pub(crate) fn answer(mut initiator: Initiator, mut bytes: &[u8]) -> Result<Option<Connected>, Error> {
    while !bytes.is_empty() {
        let room = initiator.room();
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
        bytes = &bytes[n..];
        initiator = match initiator.filled(n)? {
            Ok(connected) => return Ok(Some(connected)),
            Err(more) => more,
        };
    }
    Ok(None)
}

/// What both sides sent, and their channels.
pub(crate) struct Session {
    pub(crate) request: [u8; REQUEST_LEN],
    pub(crate) first: [u8; FRAME_OVERHEAD],
    pub(crate) host: (Sealer, Opener),
    pub(crate) agent: (Sealer, Opener),
}

pub(crate) fn session() -> Session {
    let (initiator, request) = Initiator::new(&key(), WIRE).unwrap();
    let mut responder = Responder::new();
    let Step::Answer(said) = give(&mut responder, &request, &key()).unwrap() else { panic!("no answer") };
    let Connected { sealer, opener, first } = answer(initiator, &said).unwrap().unwrap();
    let Step::Known(agent_sealer, agent_opener) = give(&mut responder, &first, &key()).unwrap() else {
        panic!("not known")
    };
    Session { request, first, host: (sealer, opener), agent: (agent_sealer, agent_opener) }
}

/// Feeds an opener bytes. Returns the plain text.
pub(crate) fn open(opener: &mut Opener, mut bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::new();
    while !bytes.is_empty() {
        let room = opener.room();
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
        bytes = &bytes[n..];
        opener.filled(n)?;
        plain.extend(opener.plain());
        opener.consume(opener.plain().len());
    }
    Ok(plain)
}

pub(crate) fn seal(sealer: &mut Sealer, plain: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; plain.len() + FRAME_OVERHEAD];
    assert_eq!(sealer.seal(plain, &mut frame), Some(frame.len()));
    frame
}
