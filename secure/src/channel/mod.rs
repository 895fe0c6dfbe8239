//! The channel after a handshake: frames of a two-byte length (big endian), followed by cipher text
//! of that length.
//!
//! Each direction counts its frames. A frame that was modified, repeated, omitted or moved does not
//! decrypt, and nothing decrypts after it. A channel that ends without the end of the stream was
//! truncated.

mod open;
mod seal;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snow::{HandshakeState, TransportState};

pub use open::Opener;
pub use seal::Sealer;

use crate::error::Error;
use crate::noise::TAG_LEN;

/// Length of the length field, bytes.
const LENGTH_LEN: usize = 2;
/// Number of bytes that a frame is longer than its plain text.
pub const FRAME_OVERHEAD: usize = LENGTH_LEN + TAG_LEN;
/// Maximum number of plain-text bytes in a frame.
pub const MAX_PLAIN: usize = u16::MAX as usize - TAG_LEN;
/// Each direction changes its key after this number of frames.
pub const REKEY_FRAMES: u64 = 1 << 20;

/// The cipher states of both directions, which the library keeps in one object.
type Shared = Arc<Mutex<TransportState>>;

fn lock(shared: &Shared) -> MutexGuard<'_, TransportState> {
    // No code panics while it holds the lock.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the frames of one direction.
#[derive(Debug)]
struct Count {
    frames: u64,
    every: u64,
}

impl Count {
    fn new() -> Self {
        Self { frames: 0, every: REKEY_FRAMES }
    }

    /// Counts a frame. True if the next one needs a new key.
    fn one(&mut self) -> bool {
        self.frames += 1;
        self.frames.is_multiple_of(self.every)
    }
}

/// Both directions of a complete handshake.
pub(crate) fn of(state: HandshakeState) -> Result<(Sealer, Opener), Error> {
    let shared = Arc::new(Mutex::new(state.into_transport_mode().map_err(Error::preparing)?));
    Ok((Sealer::new(Arc::clone(&shared)), Opener::new(shared)))
}
