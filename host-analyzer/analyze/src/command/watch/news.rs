//! Messages to the thread that draws.

use profinfer_views::watch::{Progress, Seen};

pub(super) enum News {
    /// A step begins; a word for it.
    Begun(String),
    /// A message about the step.
    Said(String),
    /// Totals of the session so far.
    Live(Progress),
    /// An analysis of the last seconds.
    Seen(Box<Seen>),
    /// The capture has ended.
    Over,
}
