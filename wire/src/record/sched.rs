//! The scheduler level: who had the CPUs that threads of the engine had or wanted.

use serde::{Deserialize, Serialize};

use super::totals::totals;
use crate::interrupt::Interrupts;
use crate::sched::SchedEvents;

/// A task that is no thread of a traced process, described before its first use. A task that changes its name is another one,
/// of the same `tid`. Number 0 stands for the CPUs' idle tasks and is never described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task<'a> {
    /// Its number in the session, from 1.
    pub id: u32,
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when it was gone before it could be looked up, or lies outside of the agent's PID namespace.
    pub pid: u32,
    /// Name when it had a CPU, at most 15 bytes.
    pub name: &'a str,
    /// Its program, and the script that this runs; empty for threads of the kernel and where `pid` is 0. Recordings made before 2026-11-23 may
    /// have the whole command line.
    pub command: &'a str,
    /// Control group, as the last line of /proc/PID/cgroup tells it; empty where `pid` is 0.
    pub cgroup: &'a str,
}

/// What the scheduler did, in the order in which the kernel wrote it down; the times of different CPUs may be out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedBatch<'a> {
    /// Number of the batch among those that the agent made, from 0; one that is missing was lost as a whole.
    pub seq: u32,
    /// What the first event's time is coded against, ns.
    pub base_ns: u64,
    /// Number of events.
    pub count: u16,
    /// The events, see [`crate::sched`].
    #[serde(serialize_with = "super::in_one")]
    pub bytes: &'a [u8],
}

impl<'a> SchedBatch<'a> {
    /// Decodes the events.
    #[must_use]
    pub const fn events(&self) -> SchedEvents<'a> {
        SchedEvents::new(self.base_ns, self.count, self.bytes)
    }
}

/// Interrupts that ran on CPUs while threads of the engine had them, in the order in which they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptBatch<'a> {
    /// What the first interrupt's start is coded against, ns.
    pub base_ns: u64,
    /// Number of interrupts.
    pub count: u16,
    /// The interrupts, see [`crate::interrupt`].
    pub bytes: &'a [u8],
}

impl<'a> InterruptBatch<'a> {
    /// Decodes the interrupts.
    #[must_use]
    pub const fn interrupts(&self) -> Interrupts<'a> {
        Interrupts::new(self.base_ns, self.count, self.bytes)
    }
}

/// Bits of [`SchedLoss::recorded`].
pub mod recorded {
    /// Switches, wake-ups and migrations.
    pub const SCHED: u64 = 1;
    /// Handlers of devices' interrupts.
    pub const HARD: u64 = 2;
    /// Soft interrupts.
    pub const SOFT: u64 = 4;
}

totals! {
    /// Totals of the scheduler level since the session began, sent when it begins and beside [`super::loss::Loss`].
    /// `switches + wakes + migrations + interrupts = sent + switches_ring_full + wakes_ring_full + migrations_ring_full +
    /// interrupts_ring_full + queue_full`, in the last record of a session always.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SchedLoss {
        /// When, ns. What happened before it was sent before this record, or is counted as lost.
        pub at_ns: u64,
        /// What is recorded, bits of [`recorded`].
        pub recorded: u64,
        /// Switches that the kernel saw of threads of the engine, and on CPUs for which such threads waited.
        pub switches: u64,
        /// Wake-ups of threads of the engine.
        pub wakes: u64,
        /// Migrations of threads of the engine that waited to run.
        pub migrations: u64,
        /// Interrupts on CPUs that threads of the engine had.
        pub interrupts: u64,
        /// Sent in batches.
        pub sent: u64,
        /// Switches lost because the kernel's ring buffer was full.
        pub switches_ring_full: u64,
        /// Wake-ups lost for that.
        pub wakes_ring_full: u64,
        /// Migrations lost for that.
        pub migrations_ring_full: u64,
        /// Interrupts lost for that.
        pub interrupts_ring_full: u64,
        /// Any of them lost because the queue to the link was full.
        pub queue_full: u64,
        /// Threads of the engine that were not followed, because the kernel had no room for more of them.
        pub threads_no_room: u64,
    }
}
