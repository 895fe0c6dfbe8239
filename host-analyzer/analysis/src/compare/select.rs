//! Selection of the compared calls: those of all runs at the same positions and of the same numbers of tokens,
//! after the warm-up.

use std::collections::BTreeSet;

use super::run::{Call, Run};
use crate::ladder::Question;

/// Fewest calls of a run for a result.
pub const FEWEST_CALLS: usize = 8;

/// The selection, one for all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Calls excluded at the beginning of each run.
    pub warm_up: usize,
    /// First and last position; `None` where positions are unknown, and all calls are compared.
    pub positions: Option<(u32, u32)>,
    /// Of calls that read prompts: their numbers of tokens. Empty for all numbers.
    pub sizes: BTreeSet<u32>,
    /// Only completely captured calls. If false, all calls, and the split of their time is
    /// unknown.
    pub traced: bool,
}

impl Selection {
    /// The selection for some runs of one question. Few calls that read are all compared: there may be only one
    /// prompt.
    #[must_use]
    pub fn compute(runs: &[&Run], warm_up: usize) -> Self {
        let reads = runs.iter().any(|run| run.question != Question::Decode);
        let few = runs.iter().any(|run| run.calls.len() < warm_up.saturating_add(FEWEST_CALLS));
        let warm_up = if reads && few { 0 } else { warm_up };
        let after = |run: &'_ Run| run.calls.iter().skip(warm_up).cloned().collect::<Vec<Call>>();
        let calls: Vec<Vec<Call>> = runs.iter().map(|run| after(run)).collect();
        let range = |calls: &Vec<Call>| {
            let positions: Option<Vec<u32>> = calls.iter().map(|t| t.position).collect();
            let positions = positions?;
            Some((*positions.iter().min()?, *positions.iter().max()?))
        };
        let common = |a: (u32, u32), b: (u32, u32)| (a.0.max(b.0), a.1.min(b.1));
        let ranges: Option<Vec<_>> = calls.iter().map(range).collect();
        let positions = ranges.and_then(|ranges| ranges.into_iter().reduce(common));
        let sizes = calls.iter().map(|calls| calls.iter().map(|c| c.n_tokens).collect::<BTreeSet<u32>>());
        let sizes = sizes.reduce(|a, b| a.intersection(&b).copied().collect()).filter(|_| reads);
        let mut selection = Self { warm_up, positions, sizes: sizes.unwrap_or_default(), traced: false };
        let captured = |run: &&Run| {
            let (all, traced) =
                selection.calls(run).fold((0, 0), |(n, t), c| (n + 1, t + usize::from(c.traced)));
            traced >= FEWEST_CALLS || traced > 0 && traced == all
        };
        selection.traced = runs.iter().all(captured);
        selection
    }

    /// The compared calls of a run.
    pub fn calls<'r>(&'r self, run: &'r Run) -> impl Iterator<Item = &'r Call> + 'r {
        let within = move |call: &&Call| {
            let at_it = match (self.positions, call.position) {
                (Some((first, last)), Some(position)) => (first..=last).contains(&position),
                _ => true,
            };
            let of_size = self.sizes.is_empty() || self.sizes.contains(&call.n_tokens);
            at_it && of_size && (call.traced || !self.traced)
        };
        run.calls.iter().skip(self.warm_up).filter(within)
    }

    /// Whether there is a position at which all runs have calls, as far as known.
    #[must_use]
    pub fn any(&self) -> bool {
        self.positions.is_none_or(|(first, last)| first <= last)
    }
}
