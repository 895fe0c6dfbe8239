//! Location of a router's selection in a topology: its layer, its names, the weights that it
//! selects from.

use profinfer_trace::model::expert::selections;
use profinfer_trace::model::{Model, NodeIdx, Selection, Text, Topology};

/// A selection of a topology.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub(super) selection: Selection,
    pub(super) layer: Option<u32>,
    /// Name of the first `MUL_MAT_ID` that reads it.
    pub(super) name: Text,
    /// Name of the weights of that operator.
    pub(super) weights: Text,
}

impl Site {
    /// The first node that reads it, which is its key in the table.
    pub(super) fn node(&self) -> NodeIdx {
        self.selection.readers[0]
    }
}

/// The selections of every topology of a session, sorted by node.
pub(super) fn sites(model: &Model) -> Vec<Vec<Site>> {
    let of_topology = |topology: &Topology| {
        selections(&model.texts, topology)
            .into_iter()
            .map(|selection| site(model, topology, selection))
            .collect()
    };
    model.topologies.rows.iter().map(of_topology).collect()
}

fn site(model: &Model, topology: &Topology, selection: Selection) -> Site {
    let (name, weights) = (topology.node(selection.readers[0]).name, topology.node(selection.weights).name);
    let layer = layer(model.texts.get(name)).or_else(|| layer(model.texts.get(weights)));
    Site { selection, layer, name, weights }
}

/// The layer number in a tensor's name. llama.cpp's names are `ffn_moe_gate-12`, and
/// `blk.12.ffn_gate_exps.weight`.
fn layer(name: &str) -> Option<u32> {
    let digits = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    if let Some(n) = name.strip_prefix("blk.").and_then(digits) {
        return Some(n);
    }
    let (_, behind) = name.rsplit_once('-')?;
    digits(behind)
}

#[cfg(test)]
mod tests {
    use super::layer;

    #[test]
    fn layers_are_told_from_names() {
        for (name, number) in [
            ("ffn_moe_gate-0", Some(0)),
            ("ffn_moe_gate_up-27", Some(27)),
            ("ffn_moe_gate-3 (view)", Some(3)),
            ("blk.12.ffn_gate_exps.weight", Some(12)),
            ("blk.x", None),
            ("ffn_moe_gate", None),
            ("a-b", None),
            ("a-99999999999999", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(layer(name), number, "{name}");
        }
    }
}
