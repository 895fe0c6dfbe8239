//! Groups of operators that a remedy addresses together, such as the products with the head.

use super::Module;

/// A group of operators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorGroup {
    /// Product with the output matrix, or with the embeddings in its place.
    Head,
    /// Products with the weights of queries, keys, values and the output of attention.
    AttentionProjections,
    /// Operators that read the cells of the KV cache.
    AttentionCells,
    /// Products with the weights of a dense feed-forward network.
    FeedForward,
    /// Products with the weights of experts and routers, and the selection of experts.
    Experts,
    /// Normalizations and sums: operators element by element, without a matrix.
    Elementwise,
    /// Products with the weights of recurrent layers.
    RecurrentProjections,
    /// State of recurrent layers.
    RecurrentState,
    #[default]
    Other,
}

impl TensorGroup {
    /// The group of an operator by its type, its place, and whether it reads weights.
    #[must_use]
    pub fn of(op: &str, module: Module, weights: bool) -> Self {
        match (op, module) {
            ("FLASH_ATTN_EXT", _) | ("SOFT_MAX", Module::Attention) => Self::AttentionCells,
            ("MUL_MAT_ID", _) => Self::Experts,
            ("MUL_MAT", Module::Attention) if !weights => Self::AttentionCells,
            ("MUL_MAT", Module::Head) => Self::Head,
            ("MUL_MAT", Module::Attention) => Self::AttentionProjections,
            ("MUL_MAT", Module::Ffn) => Self::FeedForward,
            ("MUL_MAT", Module::Recurrent) if weights => Self::RecurrentProjections,
            ("MUL_MAT" | "SOLVE_TRI" | "CUMSUM" | "TRI", Module::Recurrent) => Self::RecurrentState,
            (_, Module::Router) | ("MUL_MAT", Module::Experts) => Self::Experts,
            ("SSM_CONV" | "SSM_SCAN" | "GATED_LINEAR_ATTN" | "GATED_DELTA_NET", _) => Self::RecurrentState,
            _ if op.starts_with("RWKV_WKV") => Self::RecurrentState,
            ("GET_ROWS" | "MUL_MAT" | "OUT_PROD", _) => Self::Other,
            _ => Self::Elementwise,
        }
    }

    /// Its time is that of products with weights, which have a type that can be chosen.
    #[must_use]
    pub const fn reads_weights(self) -> bool {
        matches!(
            self,
            Self::Head
                | Self::AttentionProjections
                | Self::RecurrentProjections
                | Self::FeedForward
                | Self::Experts
        )
    }

    /// Name in data.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::AttentionProjections => "attention_projections",
            Self::AttentionCells => "attention_cells",
            Self::FeedForward => "feed_forward",
            Self::Experts => "experts",
            Self::Elementwise => "elementwise",
            Self::RecurrentProjections => "recurrent_projections",
            Self::RecurrentState => "recurrent_state",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_operator_and_place() {
        for (op, module, weights, group) in [
            ("MUL_MAT", Module::Head, true, TensorGroup::Head),
            ("MUL_MAT", Module::Attention, true, TensorGroup::AttentionProjections),
            ("MUL_MAT", Module::Attention, false, TensorGroup::AttentionCells),
            ("SOFT_MAX", Module::Attention, false, TensorGroup::AttentionCells),
            ("SOFT_MAX", Module::Router, false, TensorGroup::Experts),
            ("MUL_MAT", Module::Ffn, true, TensorGroup::FeedForward),
            ("MUL_MAT", Module::Experts, true, TensorGroup::Experts),
            ("MUL", Module::Norm, true, TensorGroup::Elementwise),
            ("ADD", Module::Attention, true, TensorGroup::Elementwise),
            ("ROPE", Module::Attention, false, TensorGroup::Elementwise),
            ("MUL_MAT", Module::Recurrent, true, TensorGroup::RecurrentProjections),
            ("MUL_MAT", Module::Recurrent, false, TensorGroup::RecurrentState),
            ("SSM_SCAN", Module::Other, false, TensorGroup::RecurrentState),
            ("RWKV_WKV6", Module::Other, false, TensorGroup::RecurrentState),
            ("GET_ROWS", Module::Embedding, true, TensorGroup::Other),
        ] {
            assert_eq!(TensorGroup::of(op, module, weights), group, "{op} {module:?}");
        }
    }
}
