//! `experts`: selections of experts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// The selections of one context in one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Routing {
    /// Phase.
    pub phase: Phase,
    /// Process.
    pub pid: u32,
    /// Address of the context in hex; `null` when there was no token call around.
    pub context: Option<String>,
    /// What they come to, in words; `null` where there is nothing to say.
    pub sentence: Option<String>,
    /// Over all layers: sums; of the figures per batch the sums of the layers' means; of `balance` the
    /// mean.
    pub whole: ExpertFigures,
    /// Layer by layer.
    pub layers: Vec<RoutedLayer>,
}

/// One layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoutedLayer {
    /// Number of the layer, where the names tell it.
    pub layer: Option<u32>,
    /// Name of the first `MUL_MAT_ID` that works by the selection.
    pub name: String,
    /// Name of its weights.
    pub weights: String,
    /// Experts for each token, in the latest batch.
    pub n_used: u32,
    /// Bytes of the weights of one expert, of all `MUL_MAT_ID`s that work by the selection; `null`
    /// when not known.
    pub expert_bytes: Option<u64>,
    /// Uses by the expert's number: once for each token and rank.
    pub expert_uses: Vec<u64>,
    /// Figures.
    #[serde(flatten)]
    pub figures: ExpertFigures,
}

/// Figures of a layer, or of all. A batch is one graph call; in decode it is one token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpertFigures {
    /// Batches whose selection is here whole. This and the next three, over all layers: of each
    /// layer its own.
    pub batches: u64,
    /// Tokens in them.
    pub tokens: u64,
    /// Selections of which only a part came; in no figure.
    pub left_out: u64,
    /// Selections of all experts for every token, which is how an engine may warm up; in no figure.
    pub all_used: u64,
    /// Uses of experts: one for each token and rank.
    pub uses: u64,
    /// Experts there are.
    pub n_expert: u64,
    /// Experts that were never used.
    pub never_used: u64,
    /// Different experts that a batch uses, mean.
    pub distinct_per_batch: Option<f64>,
    /// Bytes of their weights, mean; `null` when not known.
    pub bytes_per_batch: Option<f64>,
    /// How evenly experts are used, 0 (one alone) to 1 (all equally): entropy of the uses by the
    /// largest possible.
    pub balance: Option<f64>,
    /// Reuse from token to token; `null` but in decode, and when calls may be missing in between.
    pub reuse: Option<Reuse>,
    /// What keeping the most used experts would have been worth.
    pub pins: Vec<Pin>,
}

/// Reuse of experts from one decode token to another. What lies between two decode tokens of a
/// context (a prompt, a pause) does not count; an expert that a token uses twice counts once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reuse {
    /// Experts of tokens whose token before is known too.
    pub uses: u64,
    /// Those of them that the token before used too.
    pub again: u64,
    /// The same as a share, 0 to 1; `null` of none.
    pub share: Option<f64>,
    /// What that share would be on the mean if every expert were as likely as any other, and tokens
    /// chose without regard to each other.
    pub even_share: Option<f64>,
    /// Experts for which the token that used them last is known, whose distances the next two are
    /// of.
    pub known: u64,
    /// Median distance in tokens, 1 is the token before.
    pub median_tokens: Option<u64>,
    /// 90th percentile of the distance.
    pub p90_tokens: Option<u64>,
    /// Experts that no decode token of the recording used before.
    pub never: u64,
    /// Experts of which the token that used them last is not known: selections before it were lost.
    pub unknown: u64,
}

/// The most used experts of each layer, kept in fast memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pin {
    /// Number of experts in each layer: `n_used`, `n_expert/4` or `n_expert/2`, the latter two
    /// rounded down.
    pub rule: String,
    /// How many that is.
    pub experts: u64,
    /// Bytes of their weights; `null` if not known.
    pub bytes: Option<u64>,
    /// Uses that they would have served if they had been known from the beginning.
    pub hits: u64,
    /// `hits` as a share of all uses, 0 to 1; `null` if there are no uses. No other fixed set of
    /// the same size serves more of these uses. With few uses the share is large for that reason
    /// alone.
    pub share: Option<f64>,
    /// Share of the second half's uses that the experts served which the first half of the batches
    /// used most, 0 to 1; `null` with fewer than two batches.
    pub ahead_share: Option<f64>,
    /// Mean of `ahead_share` if all experts were equally likely, 0 to 1.
    pub even_share: Option<f64>,
}
