//! Who had the CPUs, whether or not a thread of the engine waited for them.

use serde::{Deserialize, Serialize};

use super::totals::totals;
use crate::cpu_use::CpuUses;

/// Windows of CPUs, each with the tasks that had the CPU, in the order in which the windows ended.
/// Windows in which only the engine and the idle task had the CPU are not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUseBatch<'a> {
    /// Number of the batch among those that the agent made, from 0. A missing number means a lost
    /// batch.
    pub seq: u32,
    /// Time against which the first window's start is coded, ns.
    pub base_ns: u64,
    /// Number of rows.
    pub count: u16,
    /// The rows, see [`crate::cpu_use`].
    #[serde(serialize_with = "super::as_bytes")]
    pub bytes: &'a [u8],
}

impl<'a> CpuUseBatch<'a> {
    /// Decodes the rows.
    #[must_use]
    pub const fn uses(&self) -> CpuUses<'a> {
        CpuUses::new(self.base_ns, self.count, self.bytes)
    }
}

totals! {
    /// Totals of the CPUs' use since the session began. Sent when the scheduler level begins and
    /// together with [`super::loss::Loss`]; without one the use was not recorded. `windows = sent +
    /// queue_full` always holds in the last record of a session.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CpuUseLoss {
        /// When, ns. Earlier windows were sent before this record or are counted as lost.
        pub at_ns: u64,
        /// Windows in which other tasks than the engine and the idle task had a CPU.
        pub windows: u64,
        /// Sent in batches.
        pub sent: u64,
        /// Lost because the queue to the link was full.
        pub queue_full: u64,
        /// Windows that are longer than intended, because the kernel's ring buffer was full. Their
        /// times are right.
        pub windows_late: u64,
        /// Time of other tasks in windows that were not sent because they had too little, ns.
        pub small_ns: u64,
        /// Switches on CPUs with a number for which the programs have no place. The use of these
        /// CPUs is not recorded.
        pub switches_no_room: u64,
    }
}
