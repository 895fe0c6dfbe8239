//! Cost of a probe on this machine.

use serde::{Deserialize, Serialize};

/// Cost of the two probes of an operator. The agent measures it before it traces, with the same BPF
/// programs on its own function. Absent when it could not be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCost {
    /// Pairs of hits that were measured.
    pub pairs: u32,
    /// Median time that a pair of hits (operator start and end) adds to a thread, ns.
    pub pair_ns: u64,
    /// Median duration that the programs report with nothing between the two probes, ns. Every
    /// operator's time includes it.
    pub inside_ns: u64,
}
