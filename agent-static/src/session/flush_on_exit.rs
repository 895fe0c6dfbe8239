//! The end of the link: what still waits is sent, as long as somebody takes it.

use std::time::{Duration, Instant};

use crate::link::emit::Emitter;
use crate::link::output::Kind;
use crate::session::host::Host;
use crate::signals::Signals;

/// How long the link may take none of what is left at the end.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How long the agent stays when all is sent and the host has not said `Stop`, which it does when it has the end: over a serial line it may
/// ask for a frame that noise cost, and what a connection's buffers held when it broke is asked for by the host that comes back.
const LINGER: Duration = Duration::from_secs(6);

/// Waits until the link has everything; for a host whose connection broke as long as the session itself would.
pub(super) fn flush_on_exit(emit: &mut Emitter, host: &mut Host<'_>, signals: &Signals) -> bool {
    let (mut begun, mut waiting) = (Instant::now(), usize::MAX);
    loop {
        emit.flush();
        let output = emit.output();
        // Less than before, or more because it was asked for again: somebody is there.
        if output.waiting() != waiting {
            (begun, waiting) = (Instant::now(), output.waiting());
        }
        let asks_again = match output.kind() {
            Kind::File => false,
            Kind::Connection => host.can_come_back(),
            Kind::Serial => true,
        };
        let lingers = asks_again && begun.elapsed() < LINGER && !host.said_stop() && !signals.asked_to_end();
        if output.broken() || (output.empty() && !lingers) {
            return !output.broken();
        }
        if output.suspended() && !output.empty() {
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
