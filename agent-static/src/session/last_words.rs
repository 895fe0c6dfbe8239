//! The end of the link: what still waits is sent, as long as somebody takes it.

use std::time::{Duration, Instant};

use crate::emit::Emitter;
use crate::host::Host;
use crate::link::output::Kind;
use crate::signals::Signals;

/// How long the link may take none of what is left at the end.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How long the agent stays when all is sent over a serial line: the host may ask for a frame that noise cost. It says
/// `Stop` when it has the end.
const LINGER: Duration = Duration::from_secs(6);

/// Waits until the link has everything; for a host whose connection broke as long as the session itself would.
pub(super) fn last_words(emit: &mut Emitter, host: &mut Host<'_>, signals: &Signals) -> bool {
    let (mut begun, mut waiting) = (Instant::now(), usize::MAX);
    loop {
        emit.flush();
        let output = emit.output();
        // Less than before, or more because it was asked for again: somebody is there.
        if output.waiting() != waiting {
            (begun, waiting) = (Instant::now(), output.waiting());
        }
        let lingers = output.kind() == Kind::Serial && begun.elapsed() < LINGER && !host.said_stop();
        if output.broken() || (output.empty() && !lingers) {
            return !output.broken();
        }
        if output.suspended() {
            begun = Instant::now();
            if signals.asked_to_end() {
                return false;
            }
        } else if begun.elapsed() > LAST_WORDS {
            return false;
        }
        host.step(emit);
        std::thread::sleep(Duration::from_millis(2));
    }
}
