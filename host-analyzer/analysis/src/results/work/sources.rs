//! What an operator reads: its sources, the tensors that they are views of, and the kind of bytes.

use super::{Accuracy, Work};
use crate::shared::empty::is_empty_op;
use profinfer_trace::model::{Model, Node, NodeIdx, Role, Topology};

/// The tensor whose memory a view shares.
pub(crate) fn root(model: &Model, topology: &Topology, mut at: NodeIdx) -> NodeIdx {
    // At most one step per tensor, so that a cycle in a damaged stream ends.
    for _ in 0..topology.nodes.len() {
        let node = topology.node(at);
        let shown = || {
            let first = node.src.iter().find(|(slot, _)| *slot == 0).map(|(_, n)| *n);
            first.filter(|_| is_empty_op(model.texts.get(node.op)))
        };
        match node.view_of.or_else(shown) {
            Some(next) if next != at => at = next,
            _ => break,
        }
    }
    at
}

/// The source in a slot.
pub(super) fn source(node: &Node, slot: u8) -> Option<NodeIdx> {
    node.src.iter().find(|(s, _)| *s == slot).map(|(_, n)| *n)
}

/// Number of elements of a tensor.
pub(super) fn elements(node: &Node) -> u64 {
    node.ne.iter().fold(1_u64, |product, n| product.saturating_mul(*n))
}

/// `bytes × part / whole`; the product may exceed 64 bits.
pub(super) fn part(bytes: u64, part: u64, whole: u64) -> u64 {
    let part = u128::from(bytes) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

impl Work {
    /// Reads `bytes` of a tensor.
    pub(super) fn read(&mut self, model: &Model, topology: &Topology, of: NodeIdx, bytes: u64) {
        let node = topology.node(of);
        let kind = match topology.node(root(model, topology, of)).role {
            Role::Weight => &mut self.weight_bytes,
            Role::Cache => &mut self.cache_bytes,
            Role::Node | Role::Input | Role::Other => &mut self.activation_bytes,
        };
        *kind = kind.saturating_add(bytes);
        if node.bytes == 0 && elements(node) != 0 {
            self.accuracy = Accuracy::Estimated;
        }
    }

    /// Does not read `bytes` of a tensor that was counted completely.
    pub(super) fn unread(&mut self, model: &Model, topology: &Topology, of: NodeIdx, bytes: u64) {
        let mut less = Self::default();
        less.read(model, topology, of, bytes);
        self.weight_bytes = self.weight_bytes.saturating_sub(less.weight_bytes);
        self.cache_bytes = self.cache_bytes.saturating_sub(less.cache_bytes);
        self.activation_bytes = self.activation_bytes.saturating_sub(less.activation_bytes);
    }

    /// Reads all of a tensor.
    pub(super) fn read_all(&mut self, model: &Model, topology: &Topology, of: NodeIdx) {
        self.read(model, topology, of, topology.node(of).bytes);
    }
}
