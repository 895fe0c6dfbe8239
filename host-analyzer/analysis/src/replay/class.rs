//! Classes of operators: nodes that do the same work, in all layers and graphs.

use std::collections::HashMap;

use crate::results::module::{Places, TensorGroup};
use crate::results::work::root;
use profinfer_trace::model::{Model, Node, NodeIdx, Role, Text, Topology, TopologyId};

/// Position in [`Replay::classes`](super::Replay::classes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// What the nodes of a class have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Class {
    pub op: Text,
    /// Operator as the engine describes it.
    pub desc: Text,
    /// Type of the weights that it reads, else of its result.
    pub dtype: Text,
    /// It reads weights.
    pub weights: bool,
    /// Name of the weights of which it looks up rows; `None` if it reads all of them, or none.
    pub table: Option<Text>,
    /// Type of the KV cache or state that it reads; `None` if it reads none.
    pub cache: Option<Text>,
    pub group: TensorGroup,
    /// Elements of its result, per dimension.
    pub ne: [u64; 4],
    /// Elements of its first two sources.
    pub sources: [[u64; 4]; 2],
}

#[derive(Debug, Default)]
pub(super) struct Classes {
    pub(super) rows: Vec<Class>,
    /// By topology, then node.
    of_node: Vec<Vec<ClassId>>,
}

impl Classes {
    pub(super) fn compute(model: &Model, places: &Places) -> Self {
        let mut ids: HashMap<Class, ClassId> = HashMap::new();
        let mut rows = Vec::new();
        let mut of = |topology: (TopologyId, &Topology), node: (NodeIdx, &Node)| {
            let class = class(model, places, topology, node);
            *ids.entry(class.clone()).or_insert_with(|| {
                rows.push(class);
                ClassId(u32::try_from(rows.len() - 1).unwrap_or(u32::MAX))
            })
        };
        let topologies = (0..).map(TopologyId).zip(&model.topologies.rows);
        let of_node = topologies
            .map(|(id, t)| (0..).map(NodeIdx).zip(&t.nodes).map(|node| of((id, t), node)).collect())
            .collect();
        Self { rows, of_node }
    }

    pub(super) fn of_topology(&self, topology: Option<TopologyId>) -> &[ClassId] {
        topology.and_then(|t| self.of_node.get(t.0 as usize)).map_or(&[], Vec::as_slice)
    }

    /// The classes, and by topology the class of each node.
    pub(super) fn into_parts(self) -> (Vec<Class>, Vec<Vec<ClassId>>) {
        (self.rows, self.of_node)
    }

    pub(super) const fn len(&self) -> usize {
        self.rows.len()
    }
}

fn class(
    model: &Model,
    places: &Places,
    (id, topology): (TopologyId, &Topology),
    (at, node): (NodeIdx, &Node),
) -> Class {
    let source = |slot: u8| node.src.iter().find(|(s, _)| *s == slot).map(|(_, n)| topology.node(*n));
    let weights = weights(topology, node);
    let rows = model.texts.get(node.op) == "GET_ROWS";
    Class {
        op: node.op,
        desc: node.desc,
        dtype: weights.map_or(node.dtype, |w| w.dtype),
        weights: weights.is_some(),
        table: weights.filter(|_| rows).map(|w| w.name),
        cache: node.src.iter().find_map(|(_, n)| cache(model, topology, *n)),
        group: TensorGroup::of(model.texts.get(node.op), places.get(id, at).module, weights.is_some()),
        ne: node.ne,
        sources: [0, 1].map(|slot| source(slot).map_or([0; 4], |n| n.ne)),
    }
}

/// The type of the cache or state that a source is a view of.
fn cache(model: &Model, topology: &Topology, source: NodeIdx) -> Option<Text> {
    let held = topology.node(root(model, topology, source));
    (held.role == Role::Cache).then_some(held.dtype)
}

/// The weights that a node reads, directly or by a view.
fn weights<'a>(topology: &'a Topology, node: &Node) -> Option<&'a Node> {
    let origin = |n: NodeIdx| {
        let source = topology.node(n);
        source.view_of.map_or(source, |of| topology.node(of))
    };
    node.src.iter().map(|(_, n)| origin(*n)).find(|source| source.role == Role::Weight)
}
