//! Fused operators: the work of their nodes, without the data that the kernel passes from node to
//! node in registers.

use std::collections::BTreeSet;

use super::Work;
use super::sources::root;
use crate::shared::empty::is_empty_op;
use profinfer_trace::model::{Model, NodeIdx, Topology};

/// The work of the nodes from `first` to `last`.
pub(super) fn fused(
    model: &Model,
    topology: &Topology,
    first: NodeIdx,
    last: NodeIdx,
    work: impl Fn(NodeIdx) -> Work,
) -> Work {
    let computes = |n: &NodeIdx| !is_empty_op(model.texts.get(topology.node(*n).op));
    let nodes: Vec<NodeIdx> = (first.0..=last.0).map(NodeIdx).filter(computes).collect();
    let mut parts: Vec<Work> = nodes.iter().map(|n| work(*n)).collect();
    for (reader, node) in nodes.iter().enumerate().skip(1) {
        let read: BTreeSet<NodeIdx> = topology.node(*node).src.iter().map(|(_, n)| *n).collect();
        for source in read {
            let from = root(model, topology, source);
            if let Some(writer) = nodes[..reader].iter().position(|n| *n == from) {
                parts[writer].written_bytes = 0;
                let read = &mut parts[reader].activation_bytes;
                *read = read.saturating_sub(topology.node(source).bytes);
            }
        }
    }
    let mut sum = Work::default();
    parts.iter().for_each(|part| sum.add(part));
    sum
}
