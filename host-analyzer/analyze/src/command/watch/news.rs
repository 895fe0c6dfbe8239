//! What the threads tell the one that draws.

use profinfer_views::watch::{Progress, Seen};

/// One thing.
pub(super) enum News {
    /// What is being done, in a word.
    Begun(String),
    /// What is to be said of it.
    Said(String),
    /// How far the session is.
    Live(Progress),
    /// The last seconds.
    Seen(Box<Seen>),
    /// The capture is over.
    Over,
}
