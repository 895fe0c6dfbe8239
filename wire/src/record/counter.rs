//! Counters: the CPUs on which each is read, and the operators' values.

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::span::Spans;

pub use crate::counts::SLOTS;

/// Why the hardware counters of a span are absent; bits.
pub mod why {
    /// The kernel did not read them.
    pub const UNREAD: u64 = 1;
    /// The thread moved to a core of another type during the span.
    pub const MIXED: u64 = 2;
    /// They were multiplexed: another user needs the counters too.
    pub const MULTIPLEXED: u64 = 4;
    /// The thread was switched out while they were read.
    pub const TORN: u64 = 8;
}

/// One counter on one core type, attached or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter<'a> {
    /// Slot among the values of a span. On another core type the same slot may be another counter.
    pub slot: u8,
    /// Event name, as in Arm's manuals (`L3D_CACHE_REFILL`); software events as perf does
    /// (`minor-faults`).
    pub name: &'a str,
    /// Event number.
    pub event: u32,
    /// The PMU's name in sysfs, or `software`.
    pub pmu: &'a str,
    /// The CPUs on which it counts, as a kernel CPU list: `0-3,6`.
    pub cpus: &'a str,
    /// Whether it counts.
    pub attached: bool,
    /// Why it does not count; empty if it does.
    pub note: &'a str,
}

/// As [`super::op::SpanBatch`], with the counter values of each span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedBatch<'a> {
    /// Number of the graph call.
    pub graph: u32,
    /// Topology of that call.
    pub topology: u32,
    /// The thread.
    pub tid: u32,
    /// Start of the first span, ns.
    pub base_ns: u64,
    /// CPU against which the first span is coded.
    pub cpu: u16,
    /// Number of spans.
    pub count: u16,
    /// The spans, see [`crate::span`].
    pub bytes: &'a [u8],
    /// The counter values, see [`crate::counts`], in the same order.
    pub counts: &'a [u8],
}

impl<'a> CountedBatch<'a> {
    /// Decodes the spans.
    #[must_use]
    pub const fn spans(&self) -> Spans<'a> {
        Spans::new(self.base_ns, self.cpu, self.count, self.bytes)
    }

    /// Decodes the counter values.
    #[must_use]
    pub const fn counts(&self) -> Counts<'a> {
        Counts::new(self.count, self.counts)
    }
}
