//! Duty: figures from the part of the tokens whose operators were captured, and what capturing them cost.
//!
//! Stage: analysis. From: which calls were traced, phases, executions, times of the calls. To: [`Coverage`] of each phase, intervals of
//! each type of operator, [`Slowdown`]. Promises: an interval is one of 95 %, over bursts; nothing is scaled to the tokens that were
//! not traced.

mod pairs;
pub mod slowdown;
pub mod stretches;
pub mod types;

use std::collections::BTreeSet;

pub use crate::stats::estimate;
pub use slowdown::{Measured, MeasuredEdges, Slowdown};

use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{Model, Traced};

/// Of how many calls of a phase the operators were captured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Successful token calls.
    pub calls: u64,
    /// Those whose operators were captured whole.
    pub traced: u64,
    /// Those that ran without operator probes.
    pub untraced: u64,
    /// Those in which probes were put in or taken out: in no figure of operators.
    pub edge: u64,
    /// Bursts that the traced ones are in.
    pub bursts: u64,
}

impl Coverage {
    /// The operators of some of its calls are not known.
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
