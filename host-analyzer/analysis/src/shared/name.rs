//! Names of tensors.

/// A tensor's name without its layer number: `ffn_out-3` and `ffn_out-11` are both `ffn_out`,
/// `cache_k_l7 (view)` is `cache_k (view)`. `node_24`, a name that GGML generates, becomes `node`.
pub(crate) fn without_layer(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (i, part) in name.split_inclusive(' ').enumerate() {
        let (word, space) = part.strip_suffix(' ').map_or((part, ""), |w| (w, " "));
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let cut = ["_l", "-", "_"].iter().find_map(|mark| stem.strip_suffix(mark));
        let numbered = i == 0 && stem.len() < word.len();
        out.push_str(cut.filter(|_| numbered).unwrap_or(word));
        out.push_str(space);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_layer;

    #[test]
    fn names_lose_the_number_of_the_layer() {
        let names = [
            "ffn_out-11",
            "cache_k_l7 (view)",
            "node_24",
            "Qcur-0 (view) (permuted)",
            "result_output",
            "l_out-3",
        ];
        assert_eq!(
            names.map(without_layer),
            ["ffn_out", "cache_k (view)", "node", "Qcur (view) (permuted)", "result_output", "l_out"]
        );
        assert_eq!(without_layer("inp_embd2"), "inp_embd2");
        assert_eq!(without_layer("-7"), "");
    }
}
