//! Duty: figures from the share of tokens whose operators were captured, and the cost of capturing.
//!
//! Stage: analysis. From: which calls were traced, phases, executions, times of the calls. To:
//! [`Coverage`] of each phase, intervals of each operator type, [`Slowdown`]. Promises: every
//! interval is a 95 % interval over bursts; nothing is extrapolated to untraced tokens.

mod pairs;
pub mod slowdown;
pub mod stretches;
pub mod types;

use std::collections::BTreeSet;

pub use crate::stats::estimate;
pub use slowdown::{Measured, MeasuredEdges, Slowdown};

use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{Model, Traced};

/// How many calls of a phase have their operators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Successful `llama_decode` calls.
    pub calls: u64,
    /// Completely traced calls.
    pub traced: u64,
    /// Calls without operator probes.
    pub untraced: u64,
    /// Calls during which probes were inserted or removed. No figure of operators includes them.
    pub edge: u64,
    /// Bursts that contain the traced calls.
    pub bursts: u64,
}

impl Coverage {
    /// The operators of some calls are unknown.
    #[must_use]
    pub const fn partial(&self) -> bool {
        self.traced < self.calls
    }
}

/// By [`Phase::index`].
#[must_use]
pub fn coverage(model: &Model, phases: &Phases) -> [Coverage; Phase::COUNT] {
    let tracing = &phases.tracing;
    let mut all = [Coverage::default(); Phase::COUNT];
    let mut bursts: BTreeSet<(Phase, u32)> = BTreeSet::new();
    for (i, phase) in phases.llama_calls.iter().enumerate().filter(|(i, _)| model.llama_calls.status[*i] == 0)
    {
        let of = &mut all[phase.index()];
        of.calls += 1;
        match tracing.llama_calls[i] {
            Traced::Whole => of.traced += 1,
            Traced::Untraced => of.untraced += 1,
            Traced::Edge => of.edge += 1,
        }
        bursts.extend(tracing.bursts[i].map(|burst| (*phase, burst)));
    }
    for (phase, _) in bursts {
        all[phase.index()].bursts += 1;
    }
    all
}
