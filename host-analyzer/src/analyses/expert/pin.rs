//! Pinning: what keeping some experts of every layer in fast memory would have been worth.

use serde::Serialize;

/// The most used experts of a layer, if they had been kept from the beginning. They are picked with the knowledge of the whole
/// recording, so a choice made beforehand serves no more than this of the same uses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pin {
    /// How many in each layer: `n_used`, `n_expert/4` or `n_expert/2`, the latter two rounded down.
    pub rule: &'static str,
    /// How many that is.
    pub experts: u64,
    /// Bytes of their weights; `None` when not known.
    pub bytes: Option<u64>,
    /// Uses that they would have served.
    pub hits: u64,
    /// The same as a share of all uses, 0 to 1; `None` of none.
    pub share: Option<f64>,
    /// That share if every expert of the layer were used as often as any other.
    pub even_share: Option<f64>,
}

/// What one layer has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stock<'a> {
    /// Uses by expert.
    pub(super) uses: &'a [u64],
    pub(super) n_used: u32,
    pub(super) expert_bytes: Option<u64>,
}

type Rule = (&'static str, fn(&Stock<'_>) -> usize);

const RULES: [Rule; 3] = [
    ("n_used", |s| s.n_used as usize),
    ("n_expert/4", |s| s.uses.len() / 4),
    ("n_expert/2", |s| s.uses.len() / 2),
];

/// What every rule would have been worth, over some layers.
pub(super) fn pins(layers: &[Stock<'_>]) -> Vec<Pin> {
    RULES.iter().map(|rule| pin(layers, rule)).collect()
}

fn pin(layers: &[Stock<'_>], (rule, size): &Rule) -> Pin {
    let (mut experts, mut bytes, mut hits, mut all, mut even) = (0, Some(0_u64), 0, 0, 0.0);
    for layer in layers {
        let n = size(layer);
        let mut uses = layer.uses.to_vec();
        uses.sort_unstable_by(|a, b| b.cmp(a));
        let of_layer = uses.iter().sum::<u64>();
        experts += n as u64;
        bytes = bytes.zip(layer.expert_bytes).and_then(|(sum, b)| sum.checked_add(b.checked_mul(n as u64)?));
        hits += uses.iter().take(n).sum::<u64>();
        all += of_layer;
        even += of_layer as f64 * n as f64 / layer.uses.len() as f64;
    }
    let share = |part: f64| (all > 0).then(|| part / all as f64);
    Pin { rule, experts, bytes, hits, share: share(hits as f64), even_share: share(even) }
}
