//! Shapes of operators: the identity of a piece of work, independent of the backend.

use std::collections::HashMap;

use profinfer_trace::model::{Model, Node, NodeIdx, Text, Topology, TopologyId};

/// Operators that compute nothing: no backend runs a kernel for them.
const EMPTY: [&str; 5] = ["NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"];

/// An operator with types and dimensions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    /// Types of the sources.
    pub types: Vec<String>,
    /// Type of the result.
    pub dtype: String,
    /// Elements per dimension of the sources.
    pub src: Vec<[u64; 4]>,
    /// Elements per dimension of the result.
    pub ne: [u64; 4],
    /// For a matrix product, its dimensions in the usual letters.
    pub product: Option<Product>,
}

/// A matrix product: `m` × `k` by `k` × `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Product {
    /// Elements of the result's first dimension: rows of the weights.
    pub m: u64,
    /// Elements of the second dimension: tokens, or experts of a token.
    pub n: u64,
    /// Length of the sum.
    pub k: u64,
    /// Elements of the third dimension times the fourth.
    pub batch: u64,
}

/// Identity of a shape, before its texts are made.
type Key = (Text, Text, Text, [u64; 4], Vec<(u8, Text, [u64; 4])>);

/// Position of a shape.
pub(super) type ShapeId = u32;

#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) rows: Vec<Shape>,
    /// By topology, then node; `None` where nothing is computed.
    of_node: Vec<Vec<Option<ShapeId>>>,
}

impl Shapes {
    pub(super) fn compute(model: &Model) -> Self {
        let empty: Vec<Text> =
            EMPTY.iter().filter_map(|op| model.texts.find(op)).chain([Text::default()]).collect();
        let mut all = Self::default();
        let mut ids: HashMap<Key, ShapeId> = HashMap::new();
        for topology in &model.topologies.rows {
            let nodes = topology.nodes.iter().take(topology.n_nodes as usize);
            let of = nodes.map(|node| {
                if empty.contains(&node.op) {
                    return None;
                }
                let id = *ids.entry(key(topology, node)).or_insert_with(|| {
                    all.rows.push(shape(model, topology, node));
                    u32::try_from(all.rows.len() - 1).unwrap_or(u32::MAX)
                });
                Some(id)
            });
            let of = of.collect();
            all.of_node.push(of);
        }
        all
    }

    /// The shape of a node; `None` if it computes nothing.
    pub(super) fn of_node(&self, topology: TopologyId, node: NodeIdx) -> Option<ShapeId> {
        *self.of_node.get(topology.0 as usize)?.get(node.0 as usize)?
    }

    /// The nodes of a topology that compute something.
    pub(super) fn nodes(&self, topology: TopologyId) -> impl Iterator<Item = (NodeIdx, ShapeId)> + '_ {
        let nodes = self.of_node.get(topology.0 as usize).into_iter().flatten();
        (0..).map(NodeIdx).zip(nodes).filter_map(|(node, shape)| Some((node, (*shape)?)))
    }

    pub(super) fn get(&self, id: ShapeId) -> &Shape {
        &self.rows[id as usize]
    }
}

fn key(topology: &Topology, node: &Node) -> Key {
    let source = |(slot, i): &(u8, NodeIdx)| {
        let n = topology.node(*i);
        (*slot, n.dtype, n.ne)
    };
    (node.op, node.desc, node.dtype, node.ne, node.src.iter().map(source).collect())
}

fn shape(model: &Model, topology: &Topology, node: &Node) -> Shape {
    let text = |t: Text| model.texts.get(t).to_owned();
    let sources = || node.src.iter().map(|(_, i)| topology.node(*i));
    let op = text(node.op);
    let product = matches!(op.as_str(), "MUL_MAT" | "MUL_MAT_ID")
        .then(|| node.src.iter().find(|(slot, _)| *slot == 1))
        .flatten()
        .map(|(_, source)| Product {
            m: node.ne[0],
            n: node.ne[1],
            k: topology.node(*source).ne[0],
            batch: node.ne[2].saturating_mul(node.ne[3]),
        });
    Shape {
        op,
        desc: text(node.desc),
        types: sources().map(|n| text(n.dtype)).collect(),
        dtype: text(node.dtype),
        src: sources().map(|n| n.ne).collect(),
        ne: node.ne,
        product,
    }
}
