//! Clocks.

use nix::time::{ClockId, clock_gettime};
use profinfer_wire::record::clock::Clock;

fn read(id: ClockId) -> u64 {
    clock_gettime(id).map_or(0, |t| {
        let seconds = u64::try_from(t.tv_sec()).unwrap_or(0);
        seconds * 1_000_000_000 + u64::try_from(t.tv_nsec()).unwrap_or(0)
    })
}

/// CLOCK_MONOTONIC, ns: the clock of bpf_ktime_get_ns.
#[must_use]
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// All clocks, read one after another.
#[must_use]
pub fn all() -> Clock {
    Clock {
        monotonic_ns: monotonic_ns(),
        boottime_ns: read(ClockId::CLOCK_BOOTTIME),
        realtime_ns: read(ClockId::CLOCK_REALTIME),
    }
}
