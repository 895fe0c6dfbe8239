//! When tokens were generated, for readings that are about a second apart.

use crate::shared::phase::Phases;
use profinfer_trace::model::Model;

/// Longest time between two decode calls that still counts as generating: sampling, and what an
/// application does with a token.
const BETWEEN_NS: u64 = 100_000_000;

/// Disjoint stretches of generating, in order.
#[derive(Debug)]
pub(super) struct Decode(Vec<(u64, u64)>);

impl Decode {
    pub(super) fn compute(model: &Model, phases: &Phases) -> Self {
        let d = &model.llama_calls;
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for i in (0..d.len()).filter(|i| phases.llama_calls[*i] == phases.decode && d.status[*i] == 0) {
            let (start, end) = (d.start_ns[i], d.start_ns[i].saturating_add(d.duration_ns[i]));
            match stretches.last_mut() {
                Some(last) if start <= last.1.saturating_add(BETWEEN_NS) => last.1 = last.1.max(end),
                _ => stretches.push((start, end)),
            }
        }
        Self(stretches)
    }

    /// Whether only generating took place between two times. Calls of another context may run in
    /// parallel.
    pub(super) fn covers(&self, from_ns: u64, to_ns: u64) -> bool {
        let at = self.0.partition_point(|(start, _)| *start <= from_ns);
        at.checked_sub(1).is_some_and(|at| self.0[at].1 >= to_ns)
    }
}
