//! Who may connect: the key of a board, the handshake by which both sides prove that they have it, and the channel
//! behind it. Opens no connection; of files it knows the key file only.
//!
//! ```text
//! host                                                          agent
//! hello (6) + first message (48)  ─▶                                   nothing else is read
//!                                 ◀─  second message (48), or a refusal (6)
//! first frame, empty (18)         ─▶                                   now the host is known
//! frames of the channel           ◀▶  frames of the channel
//! ```
//!
//! The handshake is `Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s`: one key of 32 bytes for each board, no certificates, no clock,
//! and a recorded session stays secret when the key is lost later. A recorded request of a host passes the first message,
//! because nothing of the agent is in it yet. Therefore the agent knows a host only by its first frame.
//!
//! For fuzzing: [`feed::responder`] and [`feed::initiator`] take any bytes in any pieces.

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
