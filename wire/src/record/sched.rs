//! The scheduler level: which tasks were on CPUs that threads of the engine had or wanted.

use serde::{Deserialize, Serialize};

use super::totals::totals;
use crate::interrupt::Interrupts;
use crate::sched::SchedEvents;

/// A task that is not a thread of a traced process, described before its first use. A task that
/// changes its name becomes another one with the same `tid`. Number 0 stands for the CPUs' idle
/// tasks and is never described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task<'a> {
    /// Its number in the session, from 1.
    pub id: u32,
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when it was gone before it could be looked up, or is outside the agent's PID
    /// namespace.
    pub pid: u32,
    /// Name when it was on a CPU, at most 15 bytes.
    pub name: &'a str,
    /// Its program, and the script that the program runs; its name if a program has no command line (it may be in
    /// the middle of an exec); empty for kernel threads and where `pid` is 0. Recordings made before 2026-11-23 may have the complete command line.
    pub command: &'a str,
    /// Control group, from the last line of /proc/PID/cgroup; empty where `pid` is 0.
    pub cgroup: &'a str,
}

/// Events of the scheduler, in the order in which the kernel recorded them. Times of different CPUs
/// may be out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedBatch<'a> {
    /// Number of the batch among those that the agent made, from 0. A missing number means a lost
    /// batch.
    pub seq: u32,
    /// Time against which the first event is coded, ns.
    pub base_ns: u64,
    /// Number of events.
    pub count: u16,
    /// The events, see [`crate::sched`].
    #[serde(serialize_with = "super::as_bytes")]
    pub bytes: &'a [u8],
}

impl<'a> SchedBatch<'a> {
    /// Decodes the events.
    #[must_use]
    pub const fn events(&self) -> SchedEvents<'a> {
        SchedEvents::new(self.base_ns, self.count, self.bytes)
    }
}

/// Interrupts that ran on CPUs with threads of the engine, in the order in which they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptBatch<'a> {
    /// Time against which the first interrupt's start is coded, ns.
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
    /// Totals of the scheduler level since the session began. Sent when it begins and together with
    /// [`super::loss::Loss`]. `switches + wakes + migrations + interrupts = sent +
    /// switches_ring_full + wakes_ring_full + migrations_ring_full + interrupts_ring_full +
    /// queue_full` always holds in the last record of a session.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SchedLoss {
        /// When, ns. Earlier events were sent before this record or are counted as lost.
        pub at_ns: u64,
        /// What is recorded, bits of [`recorded`].
        pub recorded: u64,
        /// Switches of threads of the engine, and switches on CPUs for which such threads waited.
        pub switches: u64,
        /// Wake-ups of threads of the engine.
        pub wakes: u64,
        /// Migrations of threads of the engine that waited to run.
        pub migrations: u64,
        /// Interrupts on CPUs with threads of the engine.
        pub interrupts: u64,
        /// Sent in batches.
        pub sent: u64,
        /// Switches lost because the kernel's ring buffer was full.
        pub switches_ring_full: u64,
        /// Wake-ups lost for that reason.
        pub wakes_ring_full: u64,
        /// Migrations lost for that reason.
        pub migrations_ring_full: u64,
        /// Interrupts lost for that reason.
        pub interrupts_ring_full: u64,
        /// Events of any kind lost because the queue to the link was full.
        pub queue_full: u64,
        /// Threads of the engine that were not followed, because the kernel had no space for more.
        pub threads_no_room: u64,
    }
}
