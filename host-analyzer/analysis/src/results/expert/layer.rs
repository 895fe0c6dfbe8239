//! One layer of one context in one phase: sums of its router's selections.

use super::Figures;
use super::pin::{LayerUses, pins};
use super::reuse::Chain;
use super::site::Site;
use profinfer_trace::model::expert::SKIPPED;

#[derive(Debug, Clone)]
pub(super) struct Layer<'a> {
    pub(super) site: Site,
    /// The experts of each batch.
    batches: Vec<&'a [u32]>,
    tokens: u64,
    pub(super) left_out: u64,
    pub(super) all_used: u64,
    /// Uses by expert.
    pub(super) uses: Vec<u64>,
    /// Different experts, summed over batches.
    distinct: u64,
    /// Bytes of the weights of these experts; `None` if one is unknown.
    bytes: Option<u64>,
    pub(super) chain: Chain,
}

impl<'a> Layer<'a> {
    pub(super) fn new(site: &Site) -> Self {
        let n_expert = site.selection.n_expert;
        Self {
            site: site.clone(),
            batches: Vec::new(),
            tokens: 0,
            left_out: 0,
            all_used: 0,
            uses: vec![0; n_expert as usize],
            distinct: 0,
            bytes: Some(0),
            chain: Chain::new(n_expert),
        }
    }

    /// Adds a complete selection: the experts of all tokens, token by token. `decode_call` is the
    /// position among the context's decode calls, for a decode call.
    pub(super) fn batch(&mut self, site: &Site, experts: &'a [u32], decode_call: Option<u64>) {
        if let Some(call) = decode_call {
            self.chain.call(call);
        }
        if site.selection.n_used == site.selection.n_expert {
            // Not a selection: llama.cpp may warm up with all experts (`llama_set_warmup`), so that
            // their weights are read.
            self.all_used += 1;
            return;
        }
        self.site.clone_from(site);
        self.batches.push(experts);
        self.tokens += u64::from(site.selection.n_tokens);
        used(experts).for_each(|e| self.uses[e as usize] += 1);
        let distinct = once(experts).len() as u64;
        self.distinct += distinct;
        self.bytes = self
            .bytes
            .zip(site.selection.expert_bytes)
            .and_then(|(sum, bytes)| sum.checked_add(bytes.checked_mul(distinct)?));
        if decode_call.is_some() {
            experts.chunks(site.selection.n_used as usize).for_each(|token| self.chain.token(&once(token)));
        }
    }

    pub(super) fn layer_uses(&self) -> LayerUses {
        let (first, second) = self.batches.split_at(self.batches.len() / 2);
        let halves = [first, second].map(|half| {
            let mut uses = vec![0; self.uses.len()];
            half.iter().copied().flat_map(used).for_each(|e| uses[e as usize] += 1);
            uses
        });
        LayerUses {
            halves,
            n_used: self.site.selection.n_used,
            expert_bytes: self.site.selection.expert_bytes,
        }
    }

    /// Its figures. `reuse`: whether figures of reuse can be computed.
    pub(super) fn figures(&self, reuse: bool) -> Figures {
        let batches = self.batches.len() as u64;
        let mean = |sum: u64| (batches > 0).then(|| sum as f64 / batches as f64);
        Figures {
            batches,
            tokens: self.tokens,
            left_out: self.left_out,
            all_used: self.all_used,
            uses: self.uses.iter().sum(),
            n_expert: self.uses.len() as u64,
            never_used: self.uses.iter().filter(|n| **n == 0).count() as u64,
            distinct_per_batch: mean(self.distinct),
            bytes_per_batch: self.bytes.and_then(mean),
            balance: balance(&self.uses),
            reuse: reuse.then(|| self.chain.distances.finish()),
            pins: pins(&[self.layer_uses()]),
        }
    }
}

/// The experts that compute something.
fn used(experts: &[u32]) -> impl Iterator<Item = u32> + '_ {
    experts.iter().copied().filter(|e| *e != SKIPPED)
}

/// Each expert once.
fn once(experts: &[u32]) -> Vec<u32> {
    let mut once: Vec<u32> = used(experts).collect();
    once.sort_unstable();
    once.dedup();
    once
}

/// Evenness of the uses: Shannon's entropy of the shares pᵢ, divided by the largest that n experts
/// can have, `-Σ pᵢ ln pᵢ / ln n` (Pielou's evenness, "The measurement of diversity in different
/// types of biological collections", Journal of Theoretical Biology 13, 1966). 1: all experts are
/// used equally; 0: only one is used. `None` without uses, or with one expert.
pub(super) fn balance(uses: &[u64]) -> Option<f64> {
    let all = uses.iter().sum::<u64>() as f64;
    if all == 0.0 || uses.len() < 2 {
        return None;
    }
    let shares = uses.iter().filter(|n| **n > 0).map(|n| *n as f64 / all);
    let entropy: f64 = shares.map(|p| -p * p.ln()).sum();
    // Avoids -0 and rounding above 1.
    Some((entropy / (uses.len() as f64).ln()).clamp(0.0, 1.0).abs())
}

#[cfg(test)]
mod tests {
    use super::balance;

    #[test]
    fn balance_of_even_uneven_and_no_use() {
        assert_eq!(balance(&[5, 5, 5, 5]), Some(1.0));
        assert_eq!(balance(&[0, 9, 0, 0]).map(f64::to_bits), Some(0));
        // Two of four equally: ln 2 / ln 4.
        assert!((balance(&[7, 0, 7, 0]).unwrap_or(0.0) - 0.5).abs() < 1e-15);
        // 1/2, 1/4, 1/4: 1.5 bits of ln 4 = 2 bits.
        assert!((balance(&[2, 1, 1, 0]).unwrap_or(0.0) - 0.75).abs() < 1e-15);
        assert_eq!((balance(&[0, 0]), balance(&[3]), balance(&[])), (None, None, None));
    }
}
