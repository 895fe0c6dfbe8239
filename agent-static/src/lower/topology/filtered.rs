//! Nodes of a topology that filters exclude.

use super::collected::Collected;
use super::known::Table;
use super::raw::Raw;
use crate::request::capture::filter::Filters;

/// By node. A node without a name belongs to the last layer of its sources.
pub(super) fn left_out(filters: &Filters, tensors: &Collected, table: &Table) -> Vec<bool> {
    let nodes = &tensors.nodes;
    let mut layers: Vec<Option<u32>> = tensors.iter().map(|r| r.layer).collect();
    for (i, node) in nodes.iter().enumerate().filter(|(_, n)| n.nameless) {
        let sources = tensors.src(node).into_iter().filter_map(|address| table.by_address(address));
        layers[i] = sources.filter_map(|s| layers.get(s as usize).copied().flatten()).max();
    }
    let passes = |(node, layer): (&Raw, &Option<u32>)| node.passes && filters.pass_layer(*layer);
    nodes.iter().zip(&layers).map(|both| !passes(both)).collect()
}
