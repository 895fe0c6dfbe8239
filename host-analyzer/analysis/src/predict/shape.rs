//! Widths of a model, by the names of its weights: what the nodes without weights grow with.

use std::collections::BTreeSet;

use super::layer::of_weight;

/// Widths, in elements; 0 of what a model does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Layers.
    pub layers: u64,
    /// Names of the weights of layers, without the number: what an architecture is made of.
    pub names: BTreeSet<String>,
    /// Of the embeddings, feed-forward, queries, keys, vocabulary, expert, shared expert, router; in this order.
    pub widths: [u64; 8],
}

/// Where each width is found: the weight's name, and which of its dimensions.
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

    /// How much wider what is `width` elements here is in another model; 1 where it is none of the known widths.
    #[must_use]
    pub fn ratio(&self, width: u64, other: &Self) -> f64 {
        let known =
            self.widths.iter().zip(&other.widths).find(|(own, theirs)| **own == width && **theirs > 0);
        known.map_or(1.0, |(own, theirs)| *theirs as f64 / (*own).max(1) as f64)
    }

    /// How alike two architectures are, 0 to 1: names of weights that both have, of all.
    #[must_use]
    pub fn alike(&self, other: &Self) -> f64 {
        let both = self.names.intersection(&other.names).count();
        let all = self.names.union(&other.names).count();
        both as f64 / all.max(1) as f64
    }
}
