//! Errors of the handshake and the channel.

use crate::hello::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The agent refused the request, with a reason.
    #[error("{0}")]
    Refused(Refusal),
    /// The answer does not belong to this request or was made with another key.
    #[error("the answer was not made with this key")]
    Answer,
    /// A frame was modified, repeated, omitted, or made with another key.
    #[error("a frame was modified, repeated or omitted in transit")]
    Frame,
    /// The system has no random bytes.
    #[error("the system has no random bytes")]
    Random,
}

impl Error {
    /// An error of the Noise library where only the random bytes can fail.
    pub(crate) fn preparing(_: snow::Error) -> Self {
        Self::Random
    }
}
