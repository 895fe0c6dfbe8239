//! The work of each node along the last arrivers: summed by topology, and passed to a callback.

use profinfer_trace::model::{GraphCallId, LlamaCallId, Model, Node, NodeIdx, Topology, TopologyId};

/// Sums of work by topology, then node, ns.
pub(super) type WorkSums = Vec<Vec<u64>>;

/// Destination of the work of one token.
pub(super) struct Worked<'a, F> {
    pub(super) model: &'a Model,
    pub(super) call: LlamaCallId,
    pub(super) sums: &'a mut WorkSums,
    pub(super) heard: &'a mut F,
}

/// The same for one graph call.
pub(super) struct OfGraph<'a, F> {
    call: LlamaCallId,
    /// A graph call that has operators has a topology.
    nodes: Option<(&'a Topology, &'a mut [u64])>,
    heard: &'a mut F,
}

impl<F: FnMut(LlamaCallId, &Node, u64)> Worked<'_, F> {
    pub(super) fn of_graph(&mut self, graph: GraphCallId) -> OfGraph<'_, F> {
        let topology = self.model.graph_calls.topology[graph.0 as usize];
        let nodes = topology.map(|t| (self.model.topologies.get(t), work_of(self.sums, self.model, t)));
        OfGraph { call: self.call, nodes, heard: self.heard }
    }
}

impl<F: FnMut(LlamaCallId, &Node, u64)> OfGraph<'_, F> {
    #[inline]
    pub(super) fn node(&mut self, node: NodeIdx, ns: u64) {
        if let Some((topology, sums)) = &mut self.nodes {
            sums[node.0 as usize] += ns;
            (self.heard)(self.call, topology.node(node), ns);
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
