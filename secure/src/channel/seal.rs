//! Encrypts plain text as frames.

use std::fmt;

use super::{Count, FRAME_OVERHEAD, LENGTH_LEN, MAX_PLAIN, Shared, lock};

/// The sending direction. It does not allocate.
pub struct Sealer {
    shared: Shared,
    count: Count,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Sealer {
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared, count: Count::new() }
    }

    /// Encrypts `plain` as one frame into `frame`. Returns the length of the frame, which is
    /// [`FRAME_OVERHEAD`] more. `None` if `plain` is longer than [`MAX_PLAIN`] or `frame` is too
    /// short; then nothing is counted. The frame must be sent, or no later frame decrypts.
    pub fn seal(&mut self, plain: &[u8], frame: &mut [u8]) -> Option<usize> {
        let len = plain.len() + FRAME_OVERHEAD;
        if plain.len() > MAX_PLAIN || frame.len() < len {
            return None;
        }
        let (head, text) = frame[..len].split_first_chunk_mut::<LENGTH_LEN>()?;
        *head = u16::try_from(text.len()).ok()?.to_be_bytes();
        let mut state = lock(&self.shared);
        state.write_message(plain, text).ok()?;
        if self.count.one() {
            state.rekey_outgoing();
        }
        Some(len)
    }

    /// For tests: changes the key after this number of frames.
    #[doc(hidden)]
    pub fn rekey_every(&mut self, frames: u64) {
        self.count.every = frames;
    }
}
