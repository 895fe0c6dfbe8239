//! Who looks on while something is captured.

use crate::capture::rotate::Last;
use profinfer_trace::ingest::Live;

/// One who looks on.
pub(crate) trait CaptureObserver {
    /// Something begins: a word for it.
    fn begin(&mut self, doing: &str);
    /// What is to be said of it.
    fn say(&mut self, text: &str);
    /// How far the session is.
    fn live(&mut self, live: &Live<'_>);
    /// Whether the last seconds of the session are wanted now.
    fn wants_last(&self) -> bool {
        false
    }
    /// The last seconds of the session.
    fn last(&mut self, _last: Last) {}
}
