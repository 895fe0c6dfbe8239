//! Encrypts the stream of a link. It holds one frame until the link has accepted it.

use std::io::{self, Write};

use profinfer_secure::Sealer;
use profinfer_secure::channel::FRAME_OVERHEAD;

/// Maximum number of stream bytes in one frame. One tag per 16 KiB is 0.1 %, and the agent holds
/// one such frame.
const PIECE: usize = 16 << 10;

/// An encrypted frame that waits for the link.
#[derive(Debug)]
pub(super) struct Sealing {
    sealer: Sealer,
    frame: Box<[u8]>,
    from: usize,
    to: usize,
}

impl Sealing {
    pub(super) fn new(sealer: Sealer) -> Self {
        Self { sealer, frame: vec![0; PIECE + FRAME_OVERHEAD].into(), from: 0, to: 0 }
    }

    /// Number of bytes that the link has not accepted yet.
    pub(super) fn held(&self) -> usize {
        self.to - self.from
    }

    /// Encrypts as much as one frame can hold. No frame may be held.
    pub(super) fn take(&mut self, plain: &[u8]) -> io::Result<usize> {
        let plain = &plain[..plain.len().min(PIECE)];
        let sealed = self.sealer.seal(plain, &mut self.frame);
        self.to = sealed.ok_or_else(|| io::Error::other("the channel accepts no more frames"))?;
        self.from = 0;
        Ok(plain.len())
    }

    /// Writes what the link accepts of the frame.
    pub(super) fn write(&mut self, link: &mut dyn Write) -> io::Result<usize> {
        let n = link.write(&self.frame[self.from..self.to])?;
        self.from += n;
        Ok(n)
    }
}
