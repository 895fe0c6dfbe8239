//! Progress of a capture, for the terminal.

use crate::capture::rotate::Last;
use profinfer_trace::ingest::Live;

/// Receives the progress of a capture.
pub(crate) trait CaptureObserver {
    /// A step begins; `doing` is a word for it.
    fn begin(&mut self, doing: &str);
    /// A message about the step.
    fn say(&mut self, text: &str);
    /// Totals of the session so far.
    fn live(&mut self, live: &Live<'_>);
    /// True if the observer wants the last seconds of the session now.
    fn wants_last(&self) -> bool {
        false
    }
    fn last(&mut self, _last: Last) {}
}
