//! What a probe costs on this machine.

use serde::{Deserialize, Serialize};

/// What the two probes of an operator cost, measured by the agent on a function of its own, with the same
/// programs, before it traces. Absent when it could not be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCost {
    /// Pairs of hits that were measured.
    pub pairs: u32,
    /// Median time that a pair (operator start and end) adds to a thread, ns.
    pub pair_ns: u64,
    /// Median duration that the programs report when nothing lies between the two probes, ns: every operator's
    /// time includes as much.
    pub inside_ns: u64,
}
