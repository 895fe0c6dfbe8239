//! `counters`: hardware and software counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Counter sums of one operator type, in one phase, on one core type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Phase.
    pub phase: Phase,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Operator description from the engine.
    pub desc: String,
    /// PMU that counted; empty if the CPU has no hardware counters in this session.
    pub pmu: String,
    /// Number of spans.
    pub spans: u64,
    /// Work in these spans, ns.
    pub work_ns: u64,
    /// How often threads lost their CPU during these spans.
    pub switches: u64,
    /// Spans without hardware counters, by reason.
    pub absent: AbsentCounts,
    /// Sums by counter.
    pub values: Vec<CounterSum>,
}

/// Sum of one counter, in user mode. It excludes counts of other threads while the thread was off
/// its CPU. It is not scaled up to spans without counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterSum {
    /// Counter name.
    pub name: String,
    /// Sum over the spans that were counted.
    pub sum: u64,
    /// Number of spans that were counted.
    pub spans: u64,
    /// Work in the spans that were counted, ns.
    pub work_ns: u64,
}

/// Spans without hardware counters, by reason. A span may have several reasons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentCounts {
    /// The kernel did not read them.
    pub unread: u64,
    /// The thread moved to a core of another type during the operator.
    pub mixed: u64,
    /// The counters were multiplexed with another user and did not count all the time.
    pub multiplexed: u64,
    /// The thread lost its CPU while they were read.
    pub torn: u64,
}
