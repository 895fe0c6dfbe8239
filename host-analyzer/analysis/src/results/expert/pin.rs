//! Pinning: the share of uses that the pinned experts of each layer would have served from fast
//! memory.

use std::cmp::Reverse;

/// The most used experts of each layer, kept in fast memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// Rule for the number of experts in each layer: `n_used`, `n_expert/4` or `n_expert/2`, the
    /// latter two rounded down.
    pub rule: &'static str,
    pub experts: u64,
    /// Bytes of their weights; `None` if unknown.
    pub bytes: Option<u64>,
    /// Uses that they would have served if they had been known from the beginning.
    pub hits: u64,
    /// `hits` as a share of all uses, 0 to 1; `None` without uses. No other fixed set of the same
    /// size serves more of these uses. With few uses the share is large for that reason alone.
    pub share: Option<f64>,
    /// Share of the uses in the second half of the batches that the most used experts of the first
    /// half served, 0 to 1; `None` with fewer than two batches.
    pub ahead_share: Option<f64>,
    /// Mean of `ahead_share` if all experts were equally likely, 0 to 1.
    pub even_share: Option<f64>,
}

/// The uses of one layer's experts.
#[derive(Debug, Clone)]
pub(super) struct LayerUses {
    /// Uses by expert, in the first and in the second half of the batches.
    pub(super) halves: [Vec<u64>; 2],
    pub(super) n_used: u32,
    pub(super) expert_bytes: Option<u64>,
}

type Rule = (&'static str, fn(&LayerUses) -> usize);

const RULES: [Rule; 3] = [
    ("n_used", |s| s.n_used as usize),
    ("n_expert/4", |s| s.halves[0].len() / 4),
    ("n_expert/2", |s| s.halves[0].len() / 2),
];

/// Benefit of every rule, over some layers.
pub(super) fn pins(layers: &[LayerUses]) -> Vec<Pin> {
    RULES.iter().map(|rule| pin(layers, rule)).collect()
}

/// Hits among uses.
#[derive(Debug, Default, Clone, Copy)]
struct Served {
    hits: u64,
    uses: u64,
}

impl Served {
    /// Adds the `uses` that the `n` most used experts by `by` serve; ties go to the lower number.
    fn add(&mut self, by: &[u64], uses: &[u64], n: usize) {
        let mut order: Vec<usize> = (0..by.len()).collect();
        order.sort_by_key(|e| Reverse(by[*e]));
        self.hits += order.iter().take(n).map(|e| uses[*e]).sum::<u64>();
        self.uses += uses.iter().sum::<u64>();
    }

    fn share(self) -> Option<f64> {
        (self.uses > 0).then(|| self.hits as f64 / self.uses as f64)
    }
}

fn pin(layers: &[LayerUses], (rule, size): &Rule) -> Pin {
    let (mut experts, mut bytes, mut even) = (0, Some(0_u64), 0.0);
    let (mut all, mut ahead) = (Served::default(), Served::default());
    for layer in layers {
        let n = size(layer);
        let [first, second] = &layer.halves;
        let whole: Vec<u64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        experts += n as u64;
        bytes = bytes.zip(layer.expert_bytes).and_then(|(sum, b)| sum.checked_add(b.checked_mul(n as u64)?));
        all.add(&whole, &whole, n);
        if first.iter().any(|uses| *uses > 0) {
            ahead.add(first, second, n);
            even += second.iter().sum::<u64>() as f64 * n as f64 / whole.len() as f64;
        }
    }
    let even_share = (ahead.uses > 0).then(|| even / ahead.uses as f64);
    Pin { rule, experts, bytes, hits: all.hits, share: all.share(), ahead_share: ahead.share(), even_share }
}
