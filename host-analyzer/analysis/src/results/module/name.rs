//! What tensor names show: llama.cpp names its weights `blk.N.attn_q.weight` and its nodes
//! `Qcur-N`, the same for every architecture.

/// A part of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Module {
    /// Rows of the embeddings, looked up by token.
    Embedding,
    /// Queries, keys, values, the KV cache, and their combination.
    Attention,
    /// What a layer has in the place of attention: a state space, a short convolution, linear attention.
    Recurrent,
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
            Self::Recurrent => "recurrent",
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
pub(super) fn of_weight(name: &str) -> Module {
    let name = in_part(name);
    let name = name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')).map_or(name, |(_, rest)| rest);
    let name = name.strip_prefix("nextn.").unwrap_or(name);
    // The matrices of an adapter have the name of the one that they change.
    let name = name.strip_suffix(".lora_a").or_else(|| name.strip_suffix(".lora_b")).unwrap_or(name);
    let stem = name.strip_suffix(".weight").or_else(|| name.strip_suffix(".bias")).unwrap_or(name);
    let begins = |prefixes: &[&str]| prefixes.iter().any(|p| stem.starts_with(p));
    match stem {
        _ if stem.contains("norm") || stem.starts_with("ln") => Module::Norm,
        "output" | "cls" | "cls.output" | "shared_head_head" => Module::Head,
        _ if begins(&["token_embd", "position_embd", "token_types", "per_layer_token_embd"])
            || begins(&["patch_embd", "class_embd", "embed_tokens"]) =>
        {
            Module::Embedding
        }
        "ffn_gate_inp" | "exp_probs_b" => Module::Router,
        _ if stem.contains("_exps") || stem.contains("_shexp") || stem.contains("_chexps") => Module::Experts,
        _ if begins(&["ffn_", "channel_mix"]) => Module::Ffn,
        _ if begins(&["attn_", "cross_attn", "rope_"]) => Module::Attention,
        _ if begins(&["ssm_", "shortconv", "time_mix"]) => Module::Recurrent,
        _ => Module::Other,
    }
}

/// A name without the part of a model that has several: encoder and decoder (`enc.`, `dec.`), images
/// (`v.`) and sound (`a.`).
fn in_part(name: &str) -> &str {
    ["enc.", "dec.", "v.", "a."].iter().find_map(|part| name.strip_prefix(part)).unwrap_or(name)
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
        _ if ["cache_r", "cache_s", "conv_state", "ssm_state", "mamba_"]
            .iter()
            .any(|p| stem.starts_with(p)) =>
        {
            Module::Recurrent
        }
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
    let name = in_part(name);
    if let Some(rest) = name.strip_prefix("blk.") {
        return number(rest.split('.').next()?);
    }
    let stem = name.split([' ', '(']).next().unwrap_or(name);
    let cache =
        ["cache_k_l", "cache_v_l", "cache_r_l", "cache_s_l"].iter().find_map(|p| stem.strip_prefix(p));
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
        let of = of_weight;
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
            ("blk.0.ssm_in.weight", Module::Recurrent),
            ("blk.0.ssm_norm.weight", Module::Norm),
            ("blk.0.shortconv.in_proj.weight", Module::Recurrent),
            ("blk.2.time_mix_key.weight", Module::Recurrent),
            ("blk.2.channel_mix_value.weight", Module::Ffn),
            ("per_layer_token_embd.weight", Module::Embedding),
            ("blk.1.laurel_l.weight", Module::Other),
            ("blk.4.nextn.shared_head_head.weight", Module::Head),
            ("dec.blk.0.cross_attn_q.weight", Module::Attention),
            ("enc.blk.0.ffn_up.weight", Module::Ffn),
            ("v.blk.0.ln1.weight", Module::Norm),
            ("v.patch_embd.weight", Module::Embedding),
            ("mm.0.weight", Module::Other),
            ("blk.0.attn_q.weight.lora_a", Module::Attention),
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
            ("cache_s_l3 (view)", Module::Recurrent),
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
            ("cache_r_l5", Some(5)),
            ("dec.blk.2.attn_q.weight", Some(2)),
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
