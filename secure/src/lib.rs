//! Access control: the key of a board, the handshake by which both sides prove that they hold it,
//! and the encrypted channel after it. The crate opens no connection. The key file is the only file
//! that it reads.
//!
//! ```text
//! host                                                          agent
//! hello (6) + first message (48)  ─▶                                   reads nothing else
//!                                 ◀─  second message (48), or a refusal (6)
//! first frame, empty (18)         ─▶                                   the host is authenticated
//! frames of the channel           ◀▶  frames of the channel
//! ```
//!
//! The handshake is `Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s`. It needs one key of 32 bytes per
//! board, no certificates and no clock. A recorded session stays secret if the key leaks later. A
//! replayed request passes the first message, because it depends on nothing of the agent. Therefore
//! only the first frame authenticates a host.
//!
//! For fuzzing: [`feed::responder`] and [`feed::initiator`] accept any bytes in any pieces.

#![forbid(unsafe_code)]

pub mod channel;
pub mod error;
pub mod feed;
pub mod file;
pub mod hello;
pub mod initiator;
pub mod key;
mod noise;
pub mod responder;

pub use channel::{Opener, Sealer};
pub use error::Error;
pub use hello::Refusal;
pub use initiator::Initiator;
pub use key::Key;
pub use responder::{Responder, Step};
