//! Clocks.

use serde::{Deserialize, Serialize};

/// Clocks read one after another: at the start, every few seconds and at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// CLOCK_MONOTONIC, ns: the clock of every other record.
    pub monotonic_ns: u64,
    /// CLOCK_BOOTTIME, ns: continues while the board sleeps.
    pub boottime_ns: u64,
    /// CLOCK_REALTIME, ns since 1970.
    pub realtime_ns: u64,
}
