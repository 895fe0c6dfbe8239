//! The agent's side of a handshake. It reads 72 bytes at most before it knows who is there, into 54 bytes of its own.

use std::fmt;

use crate::channel::{self, FRAME_OVERHEAD, Opener, Sealer};
use crate::error::Error;
use crate::hello::{HELLO, HELLO_LEN, MAGIC, Refusal};
use crate::initiator::REQUEST_LEN;
use crate::key::Key;
use crate::noise::{self, MESSAGE_LEN};

/// Bytes read of a host before it is known.
pub const UNKNOWN_LEN: usize = REQUEST_LEN + FRAME_OVERHEAD;
const _: () = assert!(UNKNOWN_LEN <= 96);

/// How far a handshake is.
enum Stage {
    /// The request comes.
    Request,
    /// The answer is sent; the host's first frame comes.
    First(Sealer, Opener),
    /// Over.
    Over,
}

/// A handshake with a host that is not known yet.
pub struct Responder {
    bytes: [u8; REQUEST_LEN],
    have: usize,
    stage: Stage,
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("have", &self.have).finish_non_exhaustive()
    }
}

impl Default for Responder {
    fn default() -> Self {
        Self::new()
    }
}

/// What to do next.
#[derive(Debug)]
pub enum Step {
    /// Read on.
    More,
    /// Send this, then read on.
    Answer([u8; MESSAGE_LEN]),
    /// The host has the key.
    Known(Sealer, Opener),
}

impl Responder {
    /// Waits for a request. Allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { bytes: [0; REQUEST_LEN], have: 0, stage: Stage::Request }
    }

    /// Where the next bytes of the host go. Empty when the handshake is over.
    pub fn room(&mut self) -> &mut [u8] {
        let end = match self.stage {
            // A host without a key may send less than a request.
            Stage::Request if self.have < HELLO_LEN => HELLO_LEN,
            Stage::Request => REQUEST_LEN,
            Stage::First(..) => FRAME_OVERHEAD,
            Stage::Over => self.have,
        };
        &mut self.bytes[self.have..end]
    }

    /// `n` bytes came into the room.
    ///
    /// # Errors
    /// The refusal to send before the connection is closed. After it the handshake is over.
    pub fn filled(&mut self, n: usize, key: &Key, wire_version: u16) -> Result<Step, Refusal> {
        self.have += n.min(self.room().len());
        let step = self.step(key, wire_version);
        if step.is_err() {
            self.end();
        }
        step
    }

    fn step(&mut self, key: &Key, wire_version: u16) -> Result<Step, Refusal> {
        match &mut self.stage {
            Stage::Request => {
                let magic = self.have.min(MAGIC.len());
                if self.bytes[..magic] != MAGIC[..magic] {
                    return Err(Refusal::KeyWanted);
                }
                if self.have >= HELLO_LEN && self.bytes[..HELLO_LEN] != HELLO {
                    return Err(Refusal::Unknown);
                }
                if self.have < REQUEST_LEN {
                    return Ok(Step::More);
                }
                let (sealer, opener, answer) =
                    self.answer(key, wire_version).map_err(|_| Refusal::WrongKey)?;
                (self.stage, self.have) = (Stage::First(sealer, opener), 0);
                Ok(Step::Answer(answer))
            }
            Stage::First(_, opener) => {
                if self.have < FRAME_OVERHEAD {
                    return Ok(Step::More);
                }
                // A recorded request comes as far as this.
                opener.open_whole(&self.bytes[..FRAME_OVERHEAD]).map_err(|_| Refusal::WrongKey)?;
                match self.end() {
                    Stage::First(sealer, mut opener) => {
                        opener.prepare();
                        Ok(Step::Known(sealer, opener))
                    }
                    _ => Err(Refusal::WrongKey),
                }
            }
            Stage::Over => Err(Refusal::WrongKey),
        }
    }

    fn end(&mut self) -> Stage {
        self.have = 0;
        std::mem::replace(&mut self.stage, Stage::Over)
    }

    fn answer(&self, key: &Key, wire_version: u16) -> Result<(Sealer, Opener, [u8; MESSAGE_LEN]), Error> {
        let mut state = noise::responder(key, wire_version)?;
        let (mut nothing, mut answer) = ([0; 1], [0; MESSAGE_LEN]);
        state.read_message(&self.bytes[HELLO_LEN..], &mut nothing).map_err(|_| Error::Answer)?;
        state.write_message(&[], &mut answer).map_err(Error::preparing)?;
        let (sealer, opener) = channel::of(state)?;
        Ok((sealer, opener, answer))
    }
}
