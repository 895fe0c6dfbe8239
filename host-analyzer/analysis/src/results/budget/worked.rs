//! The work of each node along the last arrivers, summed by topology.

use profinfer_trace::model::{GraphCallId, Model, NodeIdx, TopologyId};

/// Sums of work by topology, then node, ns.
pub(super) type WorkSums = Vec<Vec<u64>>;

/// Destination of the work of one token.
pub(super) struct Worked<'a> {
    pub(super) model: &'a Model,
    pub(super) sums: &'a mut WorkSums,
}

/// The same for one graph call. A graph call that has operators has a topology.
pub(super) struct OfGraph<'a>(Option<&'a mut [u64]>);

impl Worked<'_> {
    pub(super) fn of_graph(&mut self, graph: GraphCallId) -> OfGraph<'_> {
        let topology = self.model.graph_calls.topology[graph.0 as usize];
        OfGraph(topology.map(|t| work_of(self.sums, self.model, t)))
    }
}

impl OfGraph<'_> {
    #[inline]
    pub(super) fn node(&mut self, node: NodeIdx, ns: u64) {
        if let Some(sums) = &mut self.0 {
            sums[node.0 as usize] += ns;
        }
    }
}

/// The sums of one topology, by node.
fn work_of<'a>(sums: &'a mut WorkSums, model: &Model, topology: TopologyId) -> &'a mut [u64] {
    let at = topology.0 as usize;
    if sums.len() <= at {
        sums.resize_with(at + 1, Vec::new);
    }
    if sums[at].is_empty() {
        sums[at].resize(model.topologies.get(topology).nodes.len(), 0);
    }
    &mut sums[at]
}
