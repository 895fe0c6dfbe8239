//! `experts`: expert selections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// Expert selections of one context in one phase. A selection is what the router of one layer
/// selects in one graph call: `n_used` experts per token. All `MUL_MAT_ID`s that read the same ids
/// share it. Statistics include complete selections only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Routing {
    /// Phase.
    pub phase: Phase,
    /// Process id.
    pub pid: u32,
    /// Address of the context in hex; `null` outside of `llama_decode` calls.
    pub context: Option<String>,
    /// Summary as text; `null` if there is nothing notable.
    pub sentence: Option<String>,
    /// Figures over all layers: sums; figures per batch are sums of the layers' means, `null` if
    /// one of them is; `balance` is the mean.
    pub all_layers: ExpertFigures,
    /// Figures per layer.
    pub layers: Vec<RoutedLayer>,
}

/// One layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoutedLayer {
    /// Layer number, from the tensor name; `null` if the name has none.
    pub layer: Option<u32>,
    /// Name of the first `MUL_MAT_ID` of the selection.
    pub name: String,
    /// Name of the weights of that `MUL_MAT_ID`.
    pub weights: String,
    /// Experts per token, in the latest batch.
    pub n_used: u32,
    /// Bytes of the weights of one expert, in all `MUL_MAT_ID`s of the selection; `null` if
    /// unknown.
    pub expert_bytes: Option<u64>,
    /// Uses by expert number, once per token and rank. Divided by `tokens`: the density of the
    /// expert.
    pub expert_uses: Vec<u64>,
    /// Figures of the layer.
    #[serde(flatten)]
    pub figures: ExpertFigures,
}

/// Figures of one layer, or of all layers. A batch is one graph call; in decode it is one token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpertFigures {
    /// Batches with a complete selection. This and the next three count each layer separately if
    /// they are for all layers.
    pub batches: u64,
    /// Tokens in these batches.
    pub tokens: u64,
    /// Incomplete selections. They are in no figure.
    pub left_out: u64,
    /// Selections of all experts for every token, for example in a warm-up. They are in no figure.
    pub all_used: u64,
    /// Expert uses, one per token and rank: the sum of `expert_uses`.
    pub uses: u64,
    /// Number of experts.
    pub n_expert: u64,
    /// Experts that were never used.
    pub never_used: u64,
    /// Mean number of different experts per batch; `null` without batches.
    pub distinct_per_batch: Option<f64>,
    /// Mean bytes of the weights of these experts; `null` if unknown.
    pub bytes_per_batch: Option<f64>,
    /// Pielou's evenness of the uses, −Σ pᵢ ln pᵢ / ln `n_expert`: 1 if all experts are used
    /// equally, 0 if only one is used.
    pub balance: Option<f64>,
    /// Reuse from token to token; `null` outside of decode, and if calls between tokens may be
    /// missing.
    pub reuse: Option<Reuse>,
    /// Benefit of keeping the most used experts in fast memory.
    pub pins: Vec<Pin>,
}

/// Reuse of experts between decode tokens of a context. Other calls between two decode tokens do
/// not count. An expert that a token uses twice counts once. The reuse distance is the number of
/// decode tokens since the layer last used the expert; 1 is the previous token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reuse {
    /// Expert uses of tokens whose previous token is known.
    pub uses: u64,
    /// Uses that the previous token had too (distance 1).
    pub again: u64,
    /// `again` / `uses`, 0 to 1; `null` without uses.
    pub share: Option<f64>,
    /// Expected `share` if all experts were equally likely and tokens chose independently.
    pub even_share: Option<f64>,
    /// Uses with a known distance: `median_tokens` and `p90_tokens` are over these.
    pub known: u64,
    /// Median distance, tokens.
    pub median_tokens: Option<u64>,
    /// 90th percentile of the distance.
    pub p90_tokens: Option<u64>,
    /// Uses of experts that no earlier decode token of the recording used.
    pub never: u64,
    /// Uses with unknown distance, because earlier selections were lost.
    pub unknown: u64,
}

/// Benefit of keeping the most used experts of each layer in fast memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pin {
    /// Number of experts per layer: `n_used`, `n_expert/4` or `n_expert/2`, rounded down.
    pub rule: String,
    /// The number that the rule yields.
    pub experts: u64,
    /// Bytes of their weights; `null` if unknown.
    pub bytes: Option<u64>,
    /// Uses that they would serve if they were known from the start.
    pub hits: u64,
    /// `hits` as a share of all uses, 0 to 1; `null` without uses. No other fixed set of this size
    /// serves more. With few uses the share is large by chance.
    pub share: Option<f64>,
    /// Share of the uses in the second half of the batches that are served by the most used experts
    /// of the first half (ties: lower numbers), 0 to 1; `null` with fewer than two batches.
    pub ahead_share: Option<f64>,
    /// Expected `ahead_share` if all experts were equally likely, 0 to 1; `null` with fewer than
    /// two batches.
    pub even_share: Option<f64>,
}
