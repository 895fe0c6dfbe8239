//! The host side of a handshake.

use std::fmt;

use snow::HandshakeState;

use crate::channel::{self, FRAME_OVERHEAD, Opener, Sealer};
use crate::error::Error;
use crate::hello::{HELLO, HELLO_LEN, Refusal};
use crate::key::Key;
use crate::noise::{self, MESSAGE_LEN};

/// Length of a request: hello and first message.
pub const REQUEST_LEN: usize = HELLO_LEN + MESSAGE_LEN;

/// A host that waits for the answer to its request.
pub struct Initiator {
    state: HandshakeState,
    answer: [u8; MESSAGE_LEN],
    have: usize,
}

impl fmt::Debug for Initiator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Initiator").field("have", &self.have).finish_non_exhaustive()
    }
}

/// The channel of a host, and the bytes that it must send first. They authenticate it to the agent.
#[derive(Debug)]
pub struct Connected {
    /// Encrypts to the agent.
    pub sealer: Sealer,
    /// Decrypts from the agent.
    pub opener: Opener,
    /// Send these before anything else.
    pub first: [u8; FRAME_OVERHEAD],
}

impl Initiator {
    /// Begins a handshake. Returns the request to send.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new(key: &Key, wire_version: u16) -> Result<(Self, [u8; REQUEST_LEN]), Error> {
        let mut state = noise::initiator(key, wire_version)?;
        let mut request = [0; REQUEST_LEN];
        let (hello, message) = request.split_at_mut(HELLO_LEN);
        hello.copy_from_slice(&HELLO);
        state.write_message(&[], message).map_err(Error::preparing)?;
        Ok((Self { state, answer: [0; MESSAGE_LEN], have: 0 }, request))
    }

    /// Buffer for the next bytes of the agent. It is not empty before the end, and never extends
    /// past the answer.
    pub fn room(&mut self) -> &mut [u8] {
        // A refusal is shorter than an answer, so the rest of an answer is a second read.
        let end = if self.have < HELLO_LEN { HELLO_LEN } else { MESSAGE_LEN };
        &mut self.answer[self.have..end]
    }

    /// Handles `n` bytes that were read into [`Self::room`]. Returns the channel if the answer is
    /// complete, otherwise the handshake itself.
    ///
    /// # Errors
    /// If the agent refuses, or the answer was not made with this key for this request.
    pub fn filled(mut self, n: usize) -> Result<Result<Connected, Self>, Error> {
        self.have += n.min(self.room().len());
        if let Some(refusal) =
            self.answer.first_chunk().and_then(Refusal::parse).filter(|_| self.have == HELLO_LEN)
        {
            return Err(Error::Refused(refusal));
        }
        if self.have < MESSAGE_LEN {
            return Ok(Err(self));
        }
        let mut nothing = [0; 1];
        self.state.read_message(&self.answer, &mut nothing).map_err(|_| Error::Answer)?;
        let (mut sealer, opener) = channel::of(self.state)?;
        let mut first = [0; FRAME_OVERHEAD];
        sealer.seal(&[], &mut first).ok_or(Error::Frame)?;
        Ok(Ok(Connected { sealer, opener, first }))
    }
}
