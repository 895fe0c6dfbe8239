//! Selection of the compared tokens: those of all runs at the same positions, after the warm-up.

use super::run::{Run, Token};

/// Fewest tokens of a run for a result.
pub const FEWEST_TOKENS: usize = 8;

/// The selection, one for all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Tokens excluded at the beginning of each run.
    pub warm_up: usize,
    /// First and last position; `None` where positions are unknown, and all tokens are compared.
    pub positions: Option<(u32, u32)>,
    /// Only completely captured tokens. If false, all tokens, and the split of their time is
    /// unknown.
    pub traced: bool,
}

impl Selection {
    /// The selection for some runs.
    #[must_use]
    pub fn compute(runs: &[&Run], warm_up: usize) -> Self {
        let behind = |run: &'_ Run| run.tokens.iter().skip(warm_up).cloned().collect::<Vec<Token>>();
        let tokens: Vec<Vec<Token>> = runs.iter().map(|run| behind(run)).collect();
        let range = |tokens: &Vec<Token>| {
            let positions: Option<Vec<u32>> = tokens.iter().map(|t| t.position).collect();
            let positions = positions?;
            Some((*positions.iter().min()?, *positions.iter().max()?))
        };
        let common = |a: (u32, u32), b: (u32, u32)| (a.0.max(b.0), a.1.min(b.1));
        let ranges: Option<Vec<_>> = tokens.iter().map(range).collect();
        let positions = ranges.and_then(|ranges| ranges.into_iter().reduce(common));
        let mut selection = Self { warm_up, positions, traced: true };
        selection.traced = runs.iter().all(|run| selection.tokens(run).count() >= FEWEST_TOKENS);
        selection
    }

    /// The compared tokens of a run.
    pub fn tokens<'r>(&self, run: &'r Run) -> impl Iterator<Item = &'r Token> + 'r {
        let Self { warm_up, positions, traced } = *self;
        let within = move |token: &&Token| {
            let at_it = match (positions, token.position) {
                (Some((first, last)), Some(position)) => (first..=last).contains(&position),
                _ => true,
            };
            at_it && (token.traced || !traced)
        };
        run.tokens.iter().skip(warm_up).filter(within)
    }

    /// Whether there is a position at which all runs have tokens, as far as known.
    #[must_use]
    pub fn any(&self) -> bool {
        self.positions.is_none_or(|(first, last)| first <= last)
    }
}
