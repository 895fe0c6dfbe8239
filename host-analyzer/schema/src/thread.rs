//! `threads`: threads that computed operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thread that computed operators. Every `wait` is `null` if operator ends were not captured;
/// `work` then includes the waits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Kernel thread id.
    pub tid: u32,
    /// Process id; 0 if not recorded.
    pub pid: u32,
    /// Thread name.
    pub name: String,
    /// Number of spans.
    pub spans: u64,
    /// Spans that started on one CPU and ended on another; `null` if the recording lacks the CPU of
    /// each span.
    pub migrated: Option<u64>,
    /// Work, ns.
    pub work_ns: u64,
    /// Barrier wait, as far as its end was seen, ns.
    pub wait_ns: Option<u64>,
    /// Work in prefill calls, ns.
    pub prefill_work_ns: u64,
    /// Barrier wait in prefill calls, ns.
    pub prefill_wait_ns: Option<u64>,
    /// Work in decode calls, ns.
    pub decode_work_ns: u64,
    /// Barrier wait in decode calls, ns.
    pub decode_wait_ns: Option<u64>,
    /// Work in batch decode calls, ns.
    pub batch_decode_work_ns: u64,
    /// Barrier wait in batch decode calls, ns.
    pub batch_decode_wait_ns: Option<u64>,
}
