//! The work of many executions in a row.

use super::{Formula, Work, Works, fused};
use crate::shared::per_node::PerNode;
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, TopologyId};

/// Computes the work of executions. Most nodes have the same work in every call, which is computed
/// once.
#[derive(Debug)]
pub struct Reader<'a> {
    model: &'a Model,
    works: &'a Works,
    /// `None` for nodes whose work depends on the call.
    fixed: PerNode<Option<Work>>,
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(model: &'a Model, works: &'a Works) -> Self {
        Self { model, works, fixed: PerNode::new(model) }
    }

    /// The work of `node` in one call, including the later nodes up to `last` if one kernel
    /// computed them together.
    pub fn execution(&mut self, call: GraphCallId, node: NodeIdx, last: NodeIdx) -> Work {
        let Self { model, works, fixed } = self;
        let topology = model.graph_calls.topology[call.0 as usize];
        let all = || works.execution(model, call, node, last);
        fixed.get(topology, node, last, || works.is_fixed(topology, node, last).then(all)).unwrap_or_else(all)
    }
}

impl Works {
    /// The work of one execution: of `node`, including the later nodes up to `last` if one kernel
    /// computed them together.
    #[must_use]
    pub fn execution(&self, model: &Model, call: GraphCallId, node: NodeIdx, last: NodeIdx) -> Work {
        let Some(id) = model.graph_calls.topology[call.0 as usize] else { return Work::default() };
        if node == last {
            return self.node(id, call, node);
        }
        fused::fused(model, model.topologies.get(id), node, last, |n| self.node(id, call, n))
    }

    /// The work of the nodes from `node` to `last` is the same in every call.
    fn is_fixed(&self, topology: Option<TopologyId>, node: NodeIdx, last: NodeIdx) -> bool {
        let nodes = topology.and_then(|id| self.formulas.get(id.0 as usize));
        let fixed =
            |n| matches!(nodes.and_then(|nodes| nodes.get(n as usize)), None | Some(Formula::Fixed(_)));
        (node.0..=last.0).all(fixed)
    }

    /// The work of one node by itself.
    fn node(&self, topology: TopologyId, call: GraphCallId, node: NodeIdx) -> Work {
        match self.formulas.get(topology.0 as usize).and_then(|nodes| nodes.get(node.0 as usize)) {
            None => Work::default(),
            Some(Formula::Fixed(work)) => *work,
            Some(Formula::Attention(attention)) => attention.work(self.positions.of_call(call)),
            Some(Formula::Experts(experts)) => experts.work(self.chosen.distinct(call, experts.first_reader)),
        }
    }
}
