//! Operators by shape across backends: time on the host, and time on the device from the
//! accelerators' own profiles.
//!
//! Stage: analysis. From: topologies, graph calls, executions, profiles. To: [`Accelerators`].
//! Promises: a kernel is joined to the one shape that its row matches, or grouped with all that it
//! matches, or counted as not joined: `kernels = joined + grouped + unjoined`, and likewise for
//! their times. No device time is in a host time, nor the reverse.

mod balance;
mod candidate;
mod join;
mod order;
mod row;
mod several;
mod shape;

use std::collections::BTreeMap;

pub use balance::Balance;
pub use join::{Part, ProfileJoin, Unjoined, Why};
pub use row::{Device, Fused, Host, OnBackend, Row};
pub use several::{InRecording, SeveralRow, several};
pub use shape::{Product, Shape};

use super::op::Op;
use super::work::{Achieved, Works};
use crate::shared::execution::Executions;
use crate::shared::group::Groups;
use crate::shared::phase::Phases;
use crate::shared::tally::Tallies;
use profinfer_trace::model::{Layer, Model};

/// Comparison of backends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accelerators {
    /// How well each profile matches the recording, in the order of the command line.
    pub profiles: Vec<ProfileJoin>,
    /// Operators by shape, longest first. Empty for a recording of one backend without a profile.
    pub rows: Vec<Row>,
}

impl Accelerators {
    /// The backends of a session. One backend without a profile leaves nothing to compare.
    #[must_use]
    pub fn compute(
        model: &Model,
        groups: &Groups,
        tallies: &Tallies,
        works: &Works,
        achieved: &Achieved,
    ) -> Self {
        let calls = &model.graph_calls;
        let mut backends: Vec<_> = (0..calls.len())
            .filter(|i| calls.layer[*i] == Layer::Backend)
            .map(|i| calls.backend[i])
            .collect();
        backends.sort_unstable();
        backends.dedup();
        if model.accelerators.is_empty() && backends.len() < 2 {
            return Self::default();
        }
        Self::compared(model, groups, tallies, works, achieved)
    }

    /// The backends of one of several recordings; also for a single backend.
    #[must_use]
    pub fn of_recording(model: &Model) -> Self {
        let phases = Phases::compute(model);
        let executions = Executions::compute(model);
        let groups = Groups::compute(model, &phases);
        let tallies = Tallies::compute(model, &groups, &executions);
        let op = Op::compute(model, &phases, &groups, &executions, &tallies);
        let works = Works::compute(model);
        let achieved = Achieved::compute(model, &works, &op, &executions, &tallies);
        Self::compared(model, &groups, &tallies, &works, &achieved)
    }

    fn compared(
        model: &Model,
        groups: &Groups,
        tallies: &Tallies,
        works: &Works,
        achieved: &Achieved,
    ) -> Self {
        let shapes = shape::Shapes::compute(model);
        let recorded = row::Recorded::compute(model, groups, tallies, achieved, &shapes);
        let mut sums = BTreeMap::new();
        let profiles = model
            .accelerators
            .iter()
            .map(|profile| join::join(model, profile, &shapes, &recorded, &mut sums))
            .collect();
        let rows = row::rows(model, works, &shapes, &recorded, sums);
        Self { profiles, rows }
    }
}
