//! A track as a sequence of begin and end edges.

use std::ops::Range;

use super::{Slice, Track};
use profinfer_trace::model::Model;

/// Begin or end of a slice, with its time in ns of the session's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// The slice begins, inside the open ones.
    Begin(Slice, u64),
    /// The innermost open slice ends.
    End(Slice, u64),
}

impl Track {
    /// All edges in order of time. Every slice ends before its outer slice ends, and before the
    /// next sibling begins.
    pub fn edges<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = Edge> + 'a {
        self.edges_of(model, 0..self.order.len())
    }

    /// The edges of some of its slices, by position.
    pub fn edges_of<'a>(&'a self, model: &'a Model, slices: Range<usize>) -> impl Iterator<Item = Edge> + 'a {
        let mut slices = self.order.range(slices).map(|s| (s, s.bounds(model))).peekable();
        let mut open: Vec<(Slice, u64)> = Vec::new();
        std::iter::from_fn(move || {
            let next_start = slices.peek().map_or(u64::MAX, |(_, (start, _))| *start);
            // At the end of time, all open slices end too.
            if let Some((slice, end)) = open.pop_if(|(_, end)| *end <= next_start) {
                return Some(Edge::End(slice, end));
            }
            let (slice, (start, end)) = slices.next()?;
            open.push((slice, end));
            Some(Edge::Begin(slice, start))
        })
    }
}
