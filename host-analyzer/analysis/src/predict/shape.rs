//! Widths of a model, from the names of its weights: the nodes without weights grow with these.

use std::collections::BTreeSet;

use super::layer::of_weight;

/// Widths, in elements; 0 for what a model does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    pub layers: u64,
    /// Names of the weights of layers, without the layer number: they identify an architecture.
    pub names: BTreeSet<String>,
    /// Widths of embeddings, feed-forward, queries, keys, vocabulary, expert, shared expert,
    /// router; in this order.
    pub widths: [u64; 8],
}

/// Source of each width: the weight's name, and which of its dimensions.
const WIDTHS: [(&str, usize); 8] = [
    ("token_embd.weight", 0),
    ("ffn_up.weight", 1),
    ("attn_q.weight", 1),
    ("attn_k.weight", 1),
    ("token_embd.weight", 1),
    ("ffn_up_exps.weight", 1),
    ("ffn_up_shexp.weight", 1),
    ("ffn_gate_inp.weight", 1),
];

impl Shape {
    /// The shape of a model with these weights.
    pub fn of<'a>(weights: impl Iterator<Item = (&'a str, [u64; 4])>) -> Self {
        let mut shape = Self::default();
        for (name, ne) in weights {
            let (layer, name) = of_weight(name);
            if let Some(layer) = layer {
                shape.layers = shape.layers.max(layer.saturating_add(1));
                shape.names.insert(name.to_owned());
            }
            for (width, (of, dimension)) in shape.widths.iter_mut().zip(WIDTHS) {
                if name == of {
                    *width = (*width).max(ne[dimension]);
                }
            }
        }
        shape
    }

    /// Elements of the vocabulary.
    #[must_use]
    pub const fn vocabulary(&self) -> u64 {
        self.widths[4]
    }

    /// Ratio of another model's width to the width that is `width` elements here; 1 for an unknown
    /// width.
    #[must_use]
    pub fn ratio(&self, width: u64, other: &Self) -> f64 {
        let known =
            self.widths.iter().zip(&other.widths).find(|(own, theirs)| **own == width && **theirs > 0);
        known.map_or(1.0, |(own, theirs)| *theirs as f64 / (*own).max(1) as f64)
    }

    /// Similarity of two architectures, 0 to 1: share of the weight names that both have.
    #[must_use]
    pub fn alike(&self, other: &Self) -> f64 {
        let both = self.names.intersection(&other.names).count();
        let all = self.names.union(&other.names).count();
        both as f64 / all.max(1) as f64
    }
}
