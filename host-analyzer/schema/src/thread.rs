//! `threads`: threads that computed operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when the stream did not tell.
    pub pid: u32,
    /// Name.
    pub name: String,
    /// Spans.
    pub spans: u64,
    /// Spans that began on another CPU than they ended on; `null` where the recording does not tell
    /// the CPU of each.
    pub migrated: Option<u64>,
    /// Work, ns.
    pub work_ns: u64,
    /// Wait at the barrier, where it was seen, ns; this and the other waits are `null` without the
    /// ends of operators.
    pub wait_ns: Option<u64>,
    /// Work in prefill calls, ns.
    pub prefill_work_ns: u64,
    /// Wait in prefill calls, ns.
    pub prefill_wait_ns: Option<u64>,
    /// Work in decode calls, ns.
    pub decode_work_ns: u64,
    /// Wait in decode calls, ns.
    pub decode_wait_ns: Option<u64>,
    /// Work in calls that continue several sequences, or verify a draft, ns.
    pub batch_decode_work_ns: u64,
    /// Wait in those, ns.
    pub batch_decode_wait_ns: Option<u64>,
}
