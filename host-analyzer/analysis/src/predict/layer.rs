//! Names of weights: the layer of a weight, and its role there.

/// The layer of a weight, and its name without the layer: `blk.7.ffn_up.weight` is `ffn_up.weight`
/// of layer 7.
#[must_use]
pub(super) fn of_weight(name: &str) -> (Option<u64>, &str) {
    let rest = name.strip_prefix("blk.").and_then(|rest| rest.split_once('.'));
    rest.and_then(|(layer, name)| Some((Some(layer.parse().ok()?), name))).unwrap_or((None, name))
}

/// Whether a weight holds experts of which a token uses some: `ffn_up_exps.weight`, and
/// `ffn_up.3.weight` of files before 2024-04.
#[must_use]
pub(super) fn of_experts(name: &str) -> bool {
    let (layer, name) = of_weight(name);
    let numbered = || name.split('.').nth(1).is_some_and(|part| part.parse::<u32>().is_ok());
    layer.is_some() && (name.contains("_exps.") || numbered())
}

#[cfg(test)]
mod tests {
    use super::{of_experts, of_weight};

    #[test]
    fn layers_of_names() {
        assert_eq!(of_weight("blk.12.attn_q.weight"), (Some(12), "attn_q.weight"));
        assert_eq!(of_weight("output.weight"), (None, "output.weight"));
        assert_eq!(of_weight("blk.x.attn_q.weight"), (None, "blk.x.attn_q.weight"));
        let names = [
            "blk.0.ffn_up_exps.weight",
            "blk.0.ffn_up.3.weight",
            "blk.0.ffn_up_shexp.weight",
            "ffn_up.3.weight",
        ];
        assert_eq!(names.map(of_experts), [true, true, false, false]);
    }
}
