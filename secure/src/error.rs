//! Why a handshake or a channel ended.

use crate::hello::Refusal;

/// Why a handshake or a channel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The other side refuses, and says why.
    #[error("{0}")]
    Refused(Refusal),
    /// The answer to a request was not made with the same key for the same request.
    #[error("the answer was not made with this key")]
    Answer,
    /// A frame was changed, repeated, left out, or made with another key.
    #[error("a frame was changed on its way, repeated or left out")]
    Frame,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

impl Error {
    /// What of the cipher's library went wrong, where nothing can but the random bytes.
    pub(crate) fn preparing(_: snow::Error) -> Self {
        Self::Random
    }
}
