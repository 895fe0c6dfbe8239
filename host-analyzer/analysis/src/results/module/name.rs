//! What tensor names show: llama.cpp names its weights `blk.N.attn_q.weight` and its nodes
//! `Qcur-N`, the same for every architecture.

/// A part of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Module {
    /// Rows of the embeddings, looked up by token.
    Embedding,
    /// Queries, keys, values, the KV cache, and their combination.
    Attention,
    /// The feed-forward network of a layer without routers.
    Ffn,
    /// Selection of the experts.
    Router,
    /// Experts, including shared experts.
    Experts,
    /// Normalizations.
    Norm,
    /// From the last layer to the logits.
    Head,
    /// None of these, as far as names and topology show.
    #[default]
    Other,
}

impl Module {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Attention => "attention",
            Self::Ffn => "ffn",
            Self::Router => "router",
            Self::Experts => "experts",
            Self::Norm => "norm",
            Self::Head => "head",
            Self::Other => "other",
        }
    }
}

/// Module of a weight, by its name in the GGUF file.
pub(super) fn of_weight(name: &str) -> Option<Module> {
    let name = name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')).map_or(name, |(_, rest)| rest);
    let stem = name.strip_suffix(".weight").or_else(|| name.strip_suffix(".bias")).unwrap_or(name);
    Some(match stem {
        _ if stem.contains("norm") => Module::Norm,
        "output" | "cls" | "cls.output" => Module::Head,
        _ if stem.starts_with("token_embd") || stem.starts_with("position_embd") => Module::Embedding,
        "ffn_gate_inp" | "exp_probs_b" => Module::Router,
        _ if stem.contains("_exps") || stem.contains("_shexp") || stem.contains("_chexps") => Module::Experts,
        _ if stem.starts_with("ffn_") => Module::Ffn,
        _ if stem.starts_with("attn_") => Module::Attention,
        // Before llama.cpp b2591 every expert had a separate tensor: `ffn_gate.3`.
        _ => return None,
    })
}

/// Module of a node, by its name in the graph; residual sums have none.
pub(super) fn of_node(name: &str) -> Option<Module> {
    let stem = name.split([' ', '(']).next().unwrap_or(name);
    let stem =
        stem.rsplit_once('-').map_or(stem, |(stem, layer)| if number(layer).is_some() { stem } else { name });
    Some(match stem {
        _ if stem == "norm" || stem.ends_with("_norm") || stem.ends_with("_normed") => Module::Norm,
        "result_output" => Module::Head,
        "embd" | "inp_embd" | "inp_scaled" => Module::Embedding,
        _ if stem.starts_with("ffn_moe_logits")
            || stem.starts_with("ffn_moe_probs")
            || stem.starts_with("ffn_moe_argsort")
            || stem.starts_with("ffn_moe_topk")
            || stem.starts_with("ffn_moe_weights") =>
        {
            Module::Router
        }
        _ if stem.starts_with("ffn_moe") || stem.starts_with("ffn_shexp") => Module::Experts,
        // Sums at the end of attention, and of experts; a product of this name has a weight.
        "ffn_inp" | "ffn_out" => return None,
        _ if stem.starts_with("ffn_") => Module::Ffn,
        "Qcur" | "Kcur" | "Vcur" => Module::Attention,
        _ if ["kq", "attn_", "cache_k", "cache_v", "k_cache", "v_cache"]
            .iter()
            .any(|p| stem.starts_with(p)) =>
        {
            Module::Attention
        }
        _ => return None,
    })
}

/// The layer in a name: of `blk.7.attn_q.weight`, `Qcur-7` or `cache_k_l7 (view)`.
pub(super) fn layer(name: &str) -> Option<u32> {
    if let Some(rest) = name.strip_prefix("blk.") {
        return number(rest.split('.').next()?);
    }
    let stem = name.split([' ', '(']).next().unwrap_or(name);
    let cache = ["cache_k_l", "cache_v_l"].iter().find_map(|p| stem.strip_prefix(p));
    cache.or_else(|| stem.rsplit_once('-').map(|(_, layer)| layer)).and_then(number)
}

/// Digits only, so `node_26` and a name that ends with a dash have no layer.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_by_name() {
        let of = |name| of_weight(name).unwrap_or_default();
        for (name, module) in [
            ("token_embd.weight", Module::Embedding),
            ("output.weight", Module::Head),
            ("output_norm.weight", Module::Norm),
            ("blk.3.attn_q.weight", Module::Attention),
            ("blk.3.attn_q.bias", Module::Attention),
            ("blk.3.attn_q_norm.weight", Module::Norm),
            ("blk.3.attn_output.weight", Module::Attention),
            ("blk.12.ffn_down.weight", Module::Ffn),
            ("blk.12.ffn_gate_inp.weight", Module::Router),
            ("blk.12.ffn_gate_inp_shexp.weight", Module::Experts),
            ("blk.12.ffn_up_exps.weight", Module::Experts),
            ("blk.0.post_ffw_norm.weight", Module::Norm),
            ("blk.0.ssm_in.weight", Module::Other),
        ] {
            assert_eq!(of(name), module, "{name}");
        }
    }

    #[test]
    fn nodes_by_name() {
        let of = |name| of_node(name).unwrap_or_default();
        for (name, module) in [
            ("embd", Module::Embedding),
            ("inp_scaled", Module::Embedding),
            ("Qcur-0 (view) (permuted)", Module::Attention),
            ("kqv_out-11", Module::Attention),
            ("attn_norm-0", Module::Norm),
            ("norm", Module::Norm),
            ("norm-3", Module::Norm),
            ("ffn_post_norm", Module::Norm),
            ("ffn_moe_topk-2", Module::Router),
            ("ffn_moe_down-2", Module::Experts),
            ("ffn_shexp_gate-0", Module::Experts),
            ("ffn_geglu-2", Module::Ffn),
            ("ffn_out-2", Module::Other),
            ("ffn_inp-2", Module::Other),
            ("l_out-2", Module::Other),
            ("node_26", Module::Other),
            ("result_output", Module::Head),
            ("result_norm", Module::Norm),
        ] {
            assert_eq!(of(name), module, "{name}");
        }
    }

    #[test]
    fn layers_by_name() {
        for (name, want) in [
            ("blk.7.attn_q.weight", Some(7)),
            ("Qcur-7", Some(7)),
            ("Qcur-17 (view)", Some(17)),
            ("cache_k_l3 (view) (permuted)", Some(3)),
            ("norm", None),
            ("node_26", None),
            ("token_embd.weight", None),
            ("a-", None),
            ("a-99999999999", None),
        ] {
            assert_eq!(layer(name), want, "{name}");
        }
    }
}
