//! Products with experts: only the experts that were selected in the call are read, each once.

use std::collections::{BTreeSet, HashMap};

use super::sources::{elements, source};
use super::{Accuracy, Work};
use profinfer_trace::model::expert::{SKIPPED, selections};
use profinfer_trace::model::{GraphCallId, Model, Node, NodeIdx, Selection, Topology};

/// Work of one `MUL_MAT_ID`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Experts {
    /// Everything except the weights.
    others: Work,
    /// Bytes of one expert's weights.
    expert_bytes: u64,
    /// Largest possible number of different experts.
    most: u64,
    /// First reader of this selection, its key in the table of selected experts; `None` where the
    /// table cannot show what this node reads.
    pub(super) first_reader: Option<NodeIdx>,
}

impl Experts {
    /// For a node that reads a selection. Before llama.cpp b2591 each expert has a separate tensor,
    /// and each rank a node.
    pub(super) fn compute(
        model: &Model,
        topology: &Topology,
        at: NodeIdx,
        node: &Node,
        of: &Selection,
    ) -> Option<Self> {
        let activations = source(node, 1)?;
        let one_tensor =
            source(node, 2).is_some_and(|ids| model.texts.get(topology.node(ids).dtype) == "i32");
        let (weights, ids) = if one_tensor {
            (source(node, 0)?, source(node, 2)?)
        } else {
            (source(node, 2)?, source(node, 0)?)
        };
        let held = topology.node(weights);
        let (stored, accuracy) = super::stored::stored(model, held);
        let whole = if one_tensor { u64::from(of.n_expert) } else { 1 };
        let per_rank = !one_tensor || (of.n_used > 1 && node.ne[1] != u64::from(of.n_used));
        let mut others = Work { written_bytes: node.bytes, accuracy, ..Work::default() };
        others.operations = 2_u64.saturating_mul(held.ne[0]).saturating_mul(elements(node));
        others.read_all(model, topology, activations);
        others.read(model, topology, ids, u64::from(of.n_used) * u64::from(of.n_tokens) * 4);
        let positions = if per_rank { u64::from(of.n_tokens) } else { of.len() };
        Some(Self {
            others,
            expert_bytes: stored / whole,
            most: positions.min(of.n_expert.into()),
            first_reader: of.readers.first().copied().filter(|_| !per_rank && at.0 < topology.n_nodes),
        })
    }

    /// The work with `distinct` different experts; without that number, with the largest possible.
    pub(super) fn work(&self, distinct: Option<u64>) -> Work {
        let (experts, accuracy) =
            distinct.map_or((self.most, Accuracy::Estimated), |n| (n, Accuracy::Counted));
        let mut work = self.others;
        work.add(&Work {
            weight_bytes: self.expert_bytes.saturating_mul(experts),
            accuracy,
            ..Work::default()
        });
        work
    }
}

/// The selection that each `MUL_MAT_ID` of a topology reads.
pub(super) fn by_reader(model: &Model, topology: &Topology) -> HashMap<NodeIdx, Selection> {
    let of = |s: Selection| s.readers.clone().into_iter().map(move |reader| (reader, s.clone()));
    selections(&model.texts, topology).into_iter().flat_map(of).collect()
}

/// Number of different selected experts, by graph call and first reader; complete selections only.
#[derive(Debug, Clone, Default)]
pub(super) struct Chosen(HashMap<(GraphCallId, NodeIdx), u64>);

impl Chosen {
    pub(super) fn compute(model: &Model) -> Self {
        let experts = &model.experts;
        if experts.is_empty() {
            return Self::default();
        }
        let whole: Vec<HashMap<NodeIdx, u64>> = model
            .topologies
            .rows
            .iter()
            .map(|t| selections(&model.texts, t).iter().map(|s| (s.readers[0], s.len())).collect())
            .collect();
        let mut seen: HashMap<(GraphCallId, NodeIdx), (u64, BTreeSet<u32>)> = HashMap::new();
        for i in 0..experts.len() {
            let (rows, distinct) = seen.entry((experts.graph_call[i], experts.node[i])).or_default();
            *rows += 1;
            if experts.expert[i] != SKIPPED {
                distinct.insert(experts.expert[i]);
            }
        }
        let arrived = |(call, node): &(GraphCallId, NodeIdx), rows: u64| {
            let topology = model.graph_calls.topology[call.0 as usize]?;
            (whole[topology.0 as usize].get(node) == Some(&rows)).then_some(())
        };
        let all = seen.into_iter().filter(|(key, (rows, _))| arrived(key, *rows).is_some());
        Self(all.map(|(key, (_, distinct))| (key, distinct.len() as u64)).collect())
    }

    pub(super) fn distinct(&self, call: GraphCallId, first_reader: Option<NodeIdx>) -> Option<u64> {
        self.0.get(&(call, first_reader?)).copied()
    }
}
