//! Decrypts frames.

use std::fmt;

use super::{Count, FRAME_OVERHEAD, LENGTH_LEN, MAX_PLAIN, Shared, lock};
use crate::error::Error;
use crate::noise::TAG_LEN;

/// The receiving direction. It accepts the bytes of the link in any pieces. It allocates its
/// buffers, 128 KiB, when they are first needed.
pub struct Opener {
    shared: Shared,
    count: Count,
    frame: Box<[u8]>,
    have: usize,
    plain: Box<[u8]>,
    from: usize,
    to: usize,
    broken: bool,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Opener {
    /// Without buffers: the host may not be authenticated yet.
    pub(super) fn new(shared: Shared) -> Self {
        let (frame, plain) = (Box::default(), Box::default());
        Self { shared, count: Count::new(), frame, have: 0, plain, from: 0, to: 0, broken: false }
    }

    /// Allocates the buffers.
    pub(crate) fn prepare(&mut self) {
        self.frame = vec![0; LENGTH_LEN + MAX_PLAIN + TAG_LEN].into();
        self.plain = vec![0; MAX_PLAIN + TAG_LEN].into();
    }

    /// Buffer for the next bytes of the link. It never extends past the current frame. Read the
    /// plain text first.
    pub fn room(&mut self) -> &mut [u8] {
        if self.frame.is_empty() {
            self.prepare();
        }
        let end = self.end();
        &mut self.frame[self.have..end]
    }

    /// End of the bytes that are known to belong to the frame.
    fn end(&self) -> usize {
        match self.frame.first_chunk() {
            Some(length) if self.have >= LENGTH_LEN => LENGTH_LEN + usize::from(u16::from_be_bytes(*length)),
            _ => LENGTH_LEN,
        }
    }

    /// Handles `n` bytes that were read into [`Self::room`].
    ///
    /// # Errors
    /// If a frame does not decrypt. Nothing decrypts after it.
    pub fn filled(&mut self, n: usize) -> Result<(), Error> {
        let n = n.min(self.room().len());
        self.have += n;
        // Only the first frame may be empty. A later empty frame is an error: a reader would wait
        // for it and get nothing.
        if self.broken || self.have >= LENGTH_LEN && self.end() <= FRAME_OVERHEAD {
            self.broken = true;
            return Err(Error::Frame);
        }
        if self.have < LENGTH_LEN || self.have < self.end() {
            return Ok(());
        }
        let frame = std::mem::take(&mut self.frame);
        let opened = self.open_whole(&frame[..self.have]);
        (self.frame, self.have) = (frame, 0);
        opened
    }

    /// Decrypts one complete frame.
    pub(crate) fn open_whole(&mut self, frame: &[u8]) -> Result<(), Error> {
        let text = frame.get(LENGTH_LEN..).ok_or(Error::Frame)?;
        let mut state = lock(&self.shared);
        let honest = frame[..LENGTH_LEN] == u16::try_from(text.len()).unwrap_or(0).to_be_bytes();
        match state.read_message(text, &mut self.plain) {
            Ok(n) if honest && !self.broken => {
                (self.from, self.to) = (0, n);
                if self.count.one() {
                    state.rekey_incoming();
                }
                Ok(())
            }
            _ => {
                self.broken = true;
                Err(Error::Frame)
            }
        }
    }

    /// Plain text that was not consumed yet.
    #[must_use]
    pub fn plain(&self) -> &[u8] {
        &self.plain[self.from..self.to]
    }

    /// Consumes the first `n` bytes of the plain text.
    pub fn consume(&mut self, n: usize) {
        self.from = (self.from + n).min(self.to);
    }

    /// For tests: changes the key after this number of frames.
    #[doc(hidden)]
    pub fn rekey_every(&mut self, frames: u64) {
        self.count.every = frames;
    }
}
