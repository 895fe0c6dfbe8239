//! What a token reads, computed by hand.

use profinfer_analysis::predict::Census;

use super::file::File;

/// Two layers of width 64: queries of 4 heads, keys and values of 2, in F16; norms; Q8_0 elsewhere.
/// 680 bytes of embeddings are 68 per row.
fn dense() -> File {
    let mut file = File::new("llama")
        .number("llama.block_count", 2)
        .number("llama.embedding_length", 64)
        .number("llama.attention.head_count", 4)
        .number("llama.attention.head_count_kv", 2)
        .tensor("token_embd.weight", &[64, 10], 8, 680)
        .tensor("output_norm.weight", &[64], 0, 256);
    for layer in ["blk.0", "blk.1"] {
        file = file
            .tensor(&format!("{layer}.attn_norm.weight"), &[64], 0, 256)
            .tensor(&format!("{layer}.attn_q.weight"), &[64, 64], 1, 8_192)
            .tensor(&format!("{layer}.attn_k.weight"), &[64, 32], 1, 4_096)
            .tensor(&format!("{layer}.ffn_up.weight"), &[64, 128], 8, 8_704);
    }
    file
}

fn of(file: &File, cells: u64) -> Census {
    Census::new(&file.read().unwrap(), cells).unwrap()
}

#[test]
fn embeddings_are_a_matrix_only_where_they_are_the_output() {
    let tied = of(&dense(), 1);
    assert!(tied.tied);
    assert_eq!(
        tied.by_type().into_iter().collect::<Vec<_>>(),
        [("f16", 2 * 12_288), ("q8_0", 2 * 8_704 + 680)]
    );
    assert_eq!((tied.vector_bytes, tied.embedding_bytes), (3 * 256, 68));
    assert_eq!(tied.weight_bytes(), 2 * 12_288 + 2 * 8_704 + 680 + 768 + 68);
    let own = of(&dense().tensor("output.weight", &[64, 10], 8, 680), 1);
    assert!(!own.tied);
    assert_eq!(own.weight_bytes(), tied.weight_bytes());
    assert_eq!((own.layers, own.parameters), (2, tied.parameters + 640));
}

/// Two heads of 16 elements of two bytes, for keys and values, in two layers.
#[test]
fn the_cache_of_grouped_heads() {
    let census = of(&dense(), 257);
    assert_eq!((census.cell_bytes, census.cells, census.cache_bytes), (256, 257, 257 * 256));
    let longer = dense().number("llama.attention.key_length", 32);
    assert_eq!(of(&longer, 1).cell_bytes, 2 * 2 * (32 + 16) * 2);
    // Latent attention: one row for keys and values, and the rotated part.
    let latent = dense().number("llama.attention.kv_lora_rank", 24).number("llama.rope.dimension_count", 8);
    assert_eq!(of(&latent, 1).cell_bytes, 2 * 32 * 2);
}

/// Two of eight routed experts, and the complete shared one.
#[test]
fn experts_by_how_many_are_used() {
    let moe = File::new("qwen2moe")
        .number("qwen2moe.expert_count", 8)
        .number("qwen2moe.expert_used_count", 2)
        .tensor("token_embd.weight", &[64, 10], 8, 680)
        .tensor("output.weight", &[64, 10], 8, 680)
        .tensor("blk.0.ffn_up_exps.weight", &[64, 32, 8], 8, 17_408)
        .tensor("blk.0.ffn_up_shexp.weight", &[64, 32], 8, 2_176)
        .tensor("blk.0.ffn_gate_inp.weight", &[64, 8], 0, 2_048);
    let census = of(&moe, 1);
    let bytes: Vec<u64> = census.matrices.iter().map(|m| m.bytes).collect();
    assert_eq!(bytes, [680, 17_408 / 4, 2_176, 2_048]);
    assert_eq!((census.matrices[1].elements, census.matrices[1].experts), (64 * 32 * 2, true));
    assert_eq!((census.experts, census.experts_used, census.parameters), (8, 2, 640 * 2 + 64 * 32 * 9 + 512));
    // Before 2024-04 each expert had a separate tensor: a quarter of each.
    let old = File::new("llama")
        .number("llama.expert_count", 8)
        .number("llama.expert_used_count", 2)
        .tensor("token_embd.weight", &[64, 10], 8, 680)
        .tensor("blk.0.ffn_up.0.weight", &[64, 32], 8, 2_176);
    assert_eq!(of(&old, 1).matrices[1].bytes, 544);
}

/// Layers that predict further tokens are in the file, but in no token's graph.
#[test]
fn layers_beside_the_graph() {
    let census = of(&dense().number("llama.nextn_predict_layers", 1), 1);
    assert_eq!((census.layers, census.by_type()["f16"], census.vector_bytes), (1, 12_288, 2 * 256));
}

/// Of a table per layer a token reads one row: 10 rows of 136 bytes.
#[test]
fn tables_of_rows() {
    let plain = of(&dense(), 1);
    let tables = dense().tensor("per_layer_token_embd.weight", &[128, 10], 8, 1_360).tensor(
        "position_embd.weight",
        &[64, 20],
        0,
        5_120,
    );
    let census = of(&tables, 1);
    assert_eq!(census.embedding_bytes, plain.embedding_bytes + 136 + 256);
    assert_eq!(census.weight_bytes(), plain.weight_bytes() + 136 + 256);
    assert_eq!(census.parameters, plain.parameters + 1_280 + 1_280);
}

/// The second layer uses the cache of the first, so its keys are in the file, but in no graph.
#[test]
fn layers_that_share_a_cache() {
    let (own, shared) = (of(&dense(), 1), of(&dense().number("llama.attention.shared_kv_layers", 1), 1));
    assert_eq!(shared.cell_bytes, own.cell_bytes / 2);
    assert_eq!(shared.weight_bytes(), own.weight_bytes() - 4_096);
    // Both read it, and it is in memory once.
    assert_eq!((shared.cache_bytes, shared.held_bytes), (own.cache_bytes, own.held_bytes / 2));
}

/// A layer with a window keeps 300 and 512 cells, in steps of 256; its heads may have another size.
#[test]
fn layers_with_a_window_keep_its_cells() {
    let cells = |file: &File, n| of(file, n).cache_bytes / (2 * 2 * 16 * 2);
    let all = |n: u64| 2 * n;
    let named = |architecture: &str| {
        File::new(architecture)
            .number(&format!("{architecture}.attention.head_count"), 4)
            .number(&format!("{architecture}.attention.head_count_kv"), 2)
            .number(&format!("{architecture}.embedding_length"), 64)
            .number(&format!("{architecture}.attention.sliding_window"), 300)
            .tensor("token_embd.weight", &[64, 10], 8, 680)
            .tensor("blk.0.attn_k.weight", &[64, 32], 1, 4_096)
            .tensor("blk.1.attn_k.weight", &[64, 32], 1, 4_096)
    };
    assert_eq!(cells(&named("llama"), 5_000), all(5_000), "llama.cpp ignores it");
    // By period, of which the last or the first layer attends to all.
    assert_eq!(cells(&named("gemma2"), 5_000), 5_000 + 1_024);
    assert_eq!(cells(&named("gemma2"), 700), all(700));
    assert_eq!(cells(&named("smallthinker"), 5_000), 5_000 + 1_024);
    assert_eq!(cells(&named("gemma3"), 5_000), 2 * 1_024);
    let none = named("gemma3").number("gemma3.attention.sliding_window_pattern", 1);
    assert_eq!(cells(&none, 5_000), all(5_000));
    // By layer, with heads of half the size.
    let list = [&7_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &[0, 1]].concat();
    let by_layer = named("gemma4").setting("gemma4.attention.sliding_window_pattern", 9, list);
    assert_eq!(cells(&by_layer, 5_000), 5_000 + 1_024);
    let smaller =
        by_layer.number("gemma4.attention.key_length_swa", 8).number("gemma4.attention.value_length_swa", 8);
    assert_eq!(cells(&smaller, 5_000), 5_000 + 512);
}

/// Linear attention has one matrix for queries, keys and values, and a state; full attention has keys.
#[test]
fn layers_of_linear_attention_have_no_cells() {
    let model = || {
        File::new("qwen35")
            .number("qwen35.block_count", 2)
            .number("qwen35.embedding_length", 64)
            .number("qwen35.attention.head_count", 4)
            .tensor("token_embd.weight", &[64, 10], 8, 680)
            .tensor("blk.0.attn_k.weight", &[64, 64], 1, 8_192)
            .tensor("blk.1.attn_qkv.weight", &[64, 128], 1, 16_384)
    };
    let linear = model().tensor("blk.1.ssm_conv1d.weight", &[4, 128], 0, 2_048);
    assert_eq!(of(&linear, 1).cell_bytes, 2 * 64 * 2);
    // The same matrix without a state is full attention.
    assert_eq!(of(&model(), 1).cell_bytes, 2 * 2 * 64 * 2);
}
