//! `counters`: hardware and software counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// One type of operator in one phase on one type of core.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Phase.
    pub phase: Phase,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// As the engine describes it.
    pub desc: String,
    /// PMU that counted; empty where the CPU has no hardware counters in this session.
    pub pmu: String,
    /// Spans.
    pub spans: u64,
    /// Their work, ns.
    pub work_ns: u64,
    /// How often their threads lost the CPU in them.
    pub switches: u64,
    /// Spans whose hardware counters are absent, by reason.
    pub absent: AbsentCounts,
    /// Sums, in the order of counters.
    pub values: Vec<CounterSum>,
}

/// One counter's sum.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterSum {
    /// Counter.
    pub name: String,
    /// Sum over the spans that were counted.
    pub sum: u64,
    /// How many those are.
    pub spans: u64,
    /// Their work, ns.
    pub work_ns: u64,
}

/// Spans whose hardware counters are absent, by reason; a span may have several reasons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentCounts {
    /// The kernel did not read them.
    pub unread: u64,
    /// The thread moved to a core of another type during the operator.
    pub mixed: u64,
    /// They did not count all the time: another user has counters, too.
    pub multiplexed: u64,
    /// The thread lost its CPU while they were read.
    pub torn: u64,
}
