//! Candidate nodes for a kernel, from what its profile records.

use std::collections::{BTreeSet, HashMap};

use super::shape::{Shape, ShapeId, Shapes};
use profinfer_trace::model::{KernelDims, KernelPart, Model, Node, NodeIdx, Text, Topology, TopologyId};

/// A node of a topology.
pub(super) type Place = (TopologyId, NodeIdx);

/// The nodes that one backend computed.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    model: &'a Model,
    shapes: &'a Shapes,
    topologies: &'a BTreeSet<TopologyId>,
    by_name: HashMap<(Text, [u64; 4]), Vec<Place>>,
    of_backend: BTreeSet<ShapeId>,
}

impl<'a> Candidates<'a> {
    pub(super) fn compute(
        model: &'a Model,
        shapes: &'a Shapes,
        topologies: &'a BTreeSet<TopologyId>,
    ) -> Self {
        let mut by_name: HashMap<_, Vec<Place>> = HashMap::new();
        let mut of_backend = BTreeSet::new();
        for id in topologies {
            let topology = model.topologies.get(*id);
            for (node, shape) in shapes.nodes(*id) {
                let n = topology.node(node);
                by_name.entry((n.name, n.ne)).or_default().push((*id, node));
                of_backend.insert(shape);
            }
        }
        Self { model, shapes, topologies, by_name, of_backend }
    }

    /// The shapes of the backend that match a row without names.
    pub(super) fn shapes(&self, part: &KernelPart) -> BTreeSet<ShapeId> {
        self.of_backend.iter().copied().filter(|id| fits(part, self.shapes.get(*id))).collect()
    }

    /// The nodes with the name and dimensions of a row, and with its operator where the row has
    /// one.
    pub(super) fn places(&self, part: &KernelPart) -> Vec<Place> {
        let output = match &part.dims {
            KernelDims::Output(ne) | KernelDims::Tensors(_, ne) => *ne,
            _ => return Vec::new(),
        };
        let Some(name) = self.model.texts.find(&part.tensor) else { return Vec::new() };
        let named = self.by_name.get(&(name, output)).map_or(&[][..], Vec::as_slice);
        let last = part.behind.last().unwrap_or(&part.op);
        let fits = |(id, node): &&Place| {
            let shape = self.shapes.of_node(*id, *node).map(|s| self.shapes.get(s));
            match shape {
                Some(shape) if part.behind.is_empty() => fits(part, shape),
                Some(shape) => is(last, shape),
                None => false,
            }
        };
        named.iter().filter(fits).copied().collect()
    }

    /// The first node of a fused kernel whose last node is `place`; `None` if the sources do not
    /// lead to exactly one.
    pub(super) fn first(&self, place: Place, part: &KernelPart) -> Option<Place> {
        let topology = self.model.topologies.get(place.0);
        let mut node = place.1;
        let before = part.behind.iter().rev().skip(1).chain([&part.op]);
        for op in before.take(part.behind.len()) {
            node = source(self.model, topology, node, op)?;
        }
        Some((place.0, node))
    }

    /// The nodes whose name is in no row, and their operators.
    pub(super) fn unnamed(&self, named: &BTreeSet<Place>) -> impl Iterator<Item = (TopologyId, Text)> + '_ {
        let names: BTreeSet<(Text, [u64; 4])> = named.iter().map(|p| self.name(*p)).collect();
        let nodes = self.topologies.iter().flat_map(|id| self.shapes.nodes(*id).map(|(node, _)| (*id, node)));
        nodes
            .filter(move |place| !names.contains(&self.name(*place)))
            .map(|place| (place.0, self.node(place).op))
    }

    fn name(&self, place: Place) -> (Text, [u64; 4]) {
        let node = self.node(place);
        (node.name, node.ne)
    }

    fn node(&self, (topology, node): Place) -> &Node {
        self.model.topologies.get(topology).node(node)
    }
}

/// The only source of a node that is such an operator.
fn source(model: &Model, topology: &Topology, node: NodeIdx, op: &str) -> Option<NodeIdx> {
    let is = |i: &NodeIdx| {
        let n = topology.node(*i);
        model.texts.get(n.op) == op || model.texts.get(n.desc) == op
    };
    let mut found = topology.node(node).src.iter().map(|(_, i)| *i).filter(is);
    found.next().filter(|_| found.next().is_none())
}

fn is(op: &str, shape: &Shape) -> bool {
    op.is_empty() || op == shape.op || op == shape.desc
}

/// Whether nothing in the row contradicts this shape.
fn fits(part: &KernelPart, shape: &Shape) -> bool {
    let dims = match &part.dims {
        KernelDims::Untold => true,
        KernelDims::Output(ne) => *ne == shape.ne,
        KernelDims::Product { m, n, k, batch, experts } => {
            let same = |p: super::Product| (p.m, p.n, p.k, p.batch) == (*m, *n, *k, *batch);
            let weights = shape.src.first().map(|ne| ne[2]);
            shape.product.is_some_and(same) && experts.is_none_or(|e| weights == Some(e))
        }
        // The sources of a fused row are those of all its nodes.
        KernelDims::Tensors(_, ne) if !part.behind.is_empty() => *ne == shape.ne,
        KernelDims::Tensors(sources, ne) => {
            let given = sources.iter().flatten();
            *ne == shape.ne
                && given.clone().count() <= shape.src.len()
                && given.zip(&shape.src).all(|(a, b)| a == b)
        }
    };
    let given = part.types.iter().filter(|t| *t != "NONE");
    let types = given.zip(&shape.types).all(|(a, b)| a == b);
    is(&part.op, shape) && dims && types && (part.dtype.is_empty() || part.dtype == shape.dtype)
}
