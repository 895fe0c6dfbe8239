//! The agent side of a handshake. Before the host is authenticated, it reads at most 72 bytes, into
//! a buffer of 54 bytes.

use std::fmt;

use crate::channel::{self, FRAME_OVERHEAD, Opener, Sealer};
use crate::error::Error;
use crate::hello::{HELLO, HELLO_LEN, MAGIC, Refusal};
use crate::initiator::REQUEST_LEN;
use crate::key::Key;
use crate::noise::{self, MESSAGE_LEN};

/// Maximum number of bytes that are read from an unauthenticated host.
pub const UNKNOWN_LEN: usize = REQUEST_LEN + FRAME_OVERHEAD;
const _: () = assert!(UNKNOWN_LEN <= 96);

/// The stage of a handshake.
enum Stage {
    /// Waits for the request.
    Request,
    /// The answer is sent; waits for the first frame of the host.
    First(Sealer, Opener),
    /// The handshake is over.
    Over,
}

/// A handshake with an unauthenticated host.
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
    /// Read more bytes.
    More,
    /// Send this, then read more bytes.
    Answer([u8; MESSAGE_LEN]),
    /// The host holds the key.
    Known(Sealer, Opener),
}

impl Responder {
    /// Waits for a request. Does not allocate.
    #[must_use]
    pub fn new() -> Self {
        Self { bytes: [0; REQUEST_LEN], have: 0, stage: Stage::Request }
    }

    /// Buffer for the next bytes of the host. Empty when the handshake is over.
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

    /// Handles `n` bytes that were read into [`Self::room`].
    ///
    /// # Errors
    /// The refusal to send before the connection is closed. Then the handshake is over.
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
                // A replayed request gets as far as this.
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
