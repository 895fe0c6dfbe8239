//! One value per node of every topology, computed at first use.
//!
//! A recording has a million spans, but only some thousand different nodes.

use profinfer_trace::model::{Model, NodeIdx, TopologyId};

type Key = (Option<TopologyId>, NodeIdx, NodeIdx);

/// The values. If spans of a node were fused differently, the value is computed again.
#[derive(Debug)]
pub struct PerNode<T> {
    /// For every topology, the position of its first node; then the length without the spare place.
    first: Vec<usize>,
    /// The last place is for nodes of no topology.
    places: Vec<Option<(Key, T)>>,
}

impl<T> PerNode<T> {
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut first = vec![0];
        let mut len = 0;
        for topology in &model.topologies.rows {
            len += topology.nodes.len();
            first.push(len);
        }
        Self { first, places: std::iter::repeat_with(|| None).take(len + 1).collect() }
    }

    /// The value of a node that was computed in one kernel with the nodes up to `last`.
    #[inline]
    pub fn get(
        &mut self,
        topology: Option<TopologyId>,
        node: NodeIdx,
        last: NodeIdx,
        make: impl FnOnce() -> T,
    ) -> &mut T {
        let key = (topology, node, last);
        let place = self.place(topology, node);
        let slot = &mut self.places[place];
        if slot.as_ref().is_some_and(|(k, _)| *k != key) {
            *slot = None;
        }
        &mut slot.get_or_insert_with(|| (key, make())).1
    }

    fn place(&self, topology: Option<TopologyId>, node: NodeIdx) -> usize {
        let topology = topology.map_or(usize::MAX, |s| s.0 as usize);
        match (self.first.get(topology), self.first.get(topology.saturating_add(1))) {
            (Some(first), Some(end)) if first + (node.0 as usize) < *end => first + node.0 as usize,
            _ => self.places.len() - 1,
        }
    }
}
