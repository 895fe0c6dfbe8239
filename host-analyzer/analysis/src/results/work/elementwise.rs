//! Operators that read all of their sources and compute each element of the result alike.

use super::sources::elements;
use super::{Accuracy, Work};
use profinfer_trace::model::{Model, Node, NodeIdx, Topology};

/// `operations` for each element of the result.
pub(super) fn elementwise(model: &Model, topology: &Topology, node: &Node, operations: u64) -> Work {
    let mut work = Work { written_bytes: node.bytes, ..Work::default() };
    let widest = node.src.iter().map(|(_, n)| elements(topology.node(*n))).max().unwrap_or(0);
    work.operations = elements(node)
        .max(if shrinks(model.texts.get(node.op)) { widest } else { 0 })
        .saturating_mul(operations);
    let mut read: Vec<NodeIdx> = node.src.iter().map(|(_, n)| *n).collect();
    read.sort_unstable();
    read.dedup();
    read.iter().for_each(|n| work.read_all(model, topology, *n));
    if node.bytes == 0 && elements(node) != 0 {
        work.accuracy = Accuracy::Estimated;
    }
    work
}

/// The result has one element per row, and every element of the row counts.
fn shrinks(op: &str) -> bool {
    matches!(op, "SUM_ROWS" | "MEAN")
}
