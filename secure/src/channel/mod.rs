//! The channel behind a handshake: frames of two bytes of length (big endian), and as many of cipher text.
//!
//! Each direction counts its frames. A frame that was changed, repeated, left out or moved does not open, and nothing opens
//! after it. A channel that ends without the stream's own end was cut.

mod open;
mod seal;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snow::{HandshakeState, TransportState};

pub use open::Opener;
pub use seal::Sealer;

use crate::error::Error;
use crate::noise::TAG_LEN;

/// Bytes of a frame's length.
const LENGTH_LEN: usize = 2;
/// Bytes that a frame has more than its plain text.
pub const FRAME_OVERHEAD: usize = LENGTH_LEN + TAG_LEN;
/// Most bytes of plain text in a frame.
pub const MAX_PLAIN: usize = u16::MAX as usize - TAG_LEN;
/// Each direction takes a new key after so many frames.
pub const REKEY_FRAMES: u64 = 1 << 20;

/// The cipher states of both directions, which the library keeps together.
type Shared = Arc<Mutex<TransportState>>;

fn lock(shared: &Shared) -> MutexGuard<'_, TransportState> {
    // Nothing that holds it panics.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frames of one direction.
#[derive(Debug)]
struct Count {
    frames: u64,
    every: u64,
}

impl Count {
    fn new() -> Self {
        Self { frames: 0, every: REKEY_FRAMES }
    }

    /// One more. True if the next one needs a new key.
    fn one(&mut self) -> bool {
        self.frames += 1;
        self.frames.is_multiple_of(self.every)
    }
}

/// Both directions of a finished handshake.
pub(crate) fn of(state: HandshakeState) -> Result<(Sealer, Opener), Error> {
    let shared = Arc::new(Mutex::new(state.into_transport_mode().map_err(Error::preparing)?));
    Ok((Sealer::new(Arc::clone(&shared)), Opener::new(shared)))
}
