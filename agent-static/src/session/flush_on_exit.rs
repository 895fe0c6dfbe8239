//! Sends what is still queued at the end of a session, while the link accepts bytes.

use std::time::{Duration, Instant};

use crate::link::emit::Emitter;
use crate::link::output::Kind;
use crate::session::host::Host;
use crate::signals::Signals;

/// How long the link may accept nothing before the agent gives up.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the agent waits for `Stop` after everything is sent. The host sends it when it has the
/// end. Until then it may request frames again: those that noise destroyed on a serial line, or
/// those that were in the buffers of a broken connection.
const LINGER: Duration = Duration::from_secs(6);

/// Waits until the link has everything. If the connection broke, waits for the host as long as the
/// session would.
pub(super) fn flush_on_exit(emit: &mut Emitter, host: &mut Host<'_>, signals: &Signals) -> bool {
    let (mut begun, mut waiting) = (Instant::now(), usize::MAX);
    loop {
        emit.flush();
        let output = emit.output();
        // The amount changed: the link accepts bytes, or the host requested some again.
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
        } else if begun.elapsed() > FLUSH_TIMEOUT {
            return false;
        }
        host.step(emit);
        std::thread::sleep(Duration::from_millis(2));
    }
}
