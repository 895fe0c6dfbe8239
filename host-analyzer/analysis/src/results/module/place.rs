//! The module and the layer of each tensor of a topology.
//!
//! A weight shows most, then the operator, then the name of the node. A tensor with none of them,
//! such as the sum of a layer and its residual, belongs where its first source does. If no source
//! has a place either, it belongs where its first reader does.

use std::collections::BTreeSet;

use super::name::{Module, layer, of_node, of_weight};
use profinfer_trace::model::{Model, Node, Role, Topology};

/// Where a tensor is in the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    pub module: Module,
    /// From 0; `None` outside of the layers.
    pub layer: Option<u32>,
}

/// What is known about one tensor so far.
#[derive(Clone, Copy, Default)]
struct Found {
    module: Option<Module>,
    /// The module of its sources, skipping normalizations.
    stream: Option<Module>,
    layer: Option<u32>,
}

/// The places of all tensors of a topology, nodes and leafs.
#[must_use]
pub fn places(model: &Model, topology: &Topology) -> Vec<Place> {
    let recurrent = recurrent_layers(model, topology);
    let own = |node| own(model, topology, node, &recurrent);
    let mut found: Vec<Found> = topology.nodes.iter().map(own).collect();
    let nodes = topology.n_nodes as usize;
    let sources = |node: &Node| node.src.iter().map(|(_, n)| n.0 as usize).collect::<Vec<_>>();
    // Sources come before their readers.
    for i in 0..nodes {
        let read = sources(&topology.nodes[i]);
        let stream = read.iter().filter(|s| **s < nodes).find_map(|s| found[*s].stream);
        let from = read.iter().find_map(|s| found[*s].layer);
        let weighs = topology.nodes[i].src.iter().any(|(_, n)| topology.node(*n).role == Role::Weight);
        let at = &mut found[i];
        // A shared expert has a network with nodes of the usual names.
        if at.module == Some(Module::Ffn) && stream == Some(Module::Experts) && !weighs {
            at.module = stream;
        }
        at.stream = at.module.filter(|m| *m != Module::Norm).or(stream);
        at.module = at.module.or(at.stream);
        at.layer = at.layer.or_else(|| from.filter(|_| at.module != Some(Module::Head)));
    }
    // Nodes after the layers only pass on what the layers computed.
    let behind = behind_the_layers(topology, &found);
    for i in behind {
        found[i].layer = None;
    }
    // The first nodes of a part belong to their reader, and so do leafs. Readers come later.
    for i in (0..nodes).rev() {
        for source in sources(&topology.nodes[i]) {
            let reader = found[i];
            let at = &mut found[source];
            if at.module.is_none() {
                at.module = reader.module;
                at.layer = at.layer.or_else(|| reader.layer.filter(|_| source < nodes));
            }
        }
    }
    found.iter().map(|f| Place { module: f.module.unwrap_or_default(), layer: f.layer }).collect()
}

/// Layers with the weights of a state and without keys. Those of linear attention have weights with the
/// names of attention as well.
fn recurrent_layers(model: &Model, topology: &Topology) -> BTreeSet<u32> {
    let with = |part: &str| -> BTreeSet<u32> {
        let names = topology.nodes.iter().filter(|n| n.role == Role::Weight).map(|n| model.texts.get(n.name));
        names.filter(|name| name.contains(part)).filter_map(layer).collect()
    };
    &with(".ssm_") - &with(".attn_k.")
}

/// What a tensor's own name, its weights and its operator show.
fn own(model: &Model, topology: &Topology, node: &Node, recurrent: &BTreeSet<u32>) -> Found {
    let text = |n: &Node| model.texts.get(n.name);
    let weights: Vec<&Node> =
        (node.src.iter().map(|(_, n)| topology.node(*n))).filter(|n| n.role == Role::Weight).collect();
    let op = model.texts.get(node.op);
    let by_op = match op {
        "RMS_NORM" | "NORM" | "L2_NORM" | "GROUP_NORM" => Some(Module::Norm),
        "FLASH_ATTN_EXT" => Some(Module::Attention),
        "SSM_CONV" | "SSM_SCAN" | "GATED_DELTA_NET" | "GATED_LINEAR_ATTN" => Some(Module::Recurrent),
        _ if op.starts_with("RWKV_WKV") => Some(Module::Recurrent),
        _ if node.role == Role::Cache => of_node(text(node)).or(Some(Module::Attention)),
        _ => None,
    };
    let by_weight = || {
        let known = weights.iter().map(|w| of_weight(text(w))).find(|m| *m != Module::Other);
        let module = known?;
        // A head without a separate matrix multiplies with the embeddings.
        Some(if module == Module::Embedding && op == "MUL_MAT" { Module::Head } else { module })
    };
    let of_itself =
        || if node.role == Role::Weight { Some(of_weight(text(node))) } else { of_node(text(node)) };
    let by_layer = weights.iter().find_map(|w| layer(text(w)));
    // A weight of no known part ends the part before it.
    let unknown = || (!weights.is_empty()).then_some(Module::Other);
    let module = by_op.or_else(by_weight).or_else(of_itself).or_else(unknown);
    let layer = layer(text(node)).or(by_layer);
    let linear = module == Some(Module::Attention) && layer.is_some_and(|l| recurrent.contains(&l));
    Found { module: if linear { Some(Module::Recurrent) } else { module }, stream: None, layer }
}

/// Nodes without a layer in their name that come after the last node that has one.
fn behind_the_layers(topology: &Topology, found: &[Found]) -> BTreeSet<usize> {
    let nodes = topology.n_nodes as usize;
    let head = (0..nodes).rfind(|i| found[*i].module == Some(Module::Head));
    let Some(head) = head else { return BTreeSet::new() };
    // From the last node of the head backwards, through its own nodes and the norm before them.
    let mut behind = BTreeSet::from([head]);
    let mut open = vec![head];
    while let Some(at) = open.pop() {
        for (_, source) in &topology.nodes[at].src {
            let source = source.0 as usize;
            let passed =
                matches!(found.get(source).and_then(|f| f.module), Some(Module::Norm | Module::Head));
            if source < nodes && passed && behind.insert(source) {
                open.push(source);
            }
        }
    }
    behind
}
