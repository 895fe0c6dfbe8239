//! Bytes and operations of single operators, computed by hand from the numbers in each test.

use profinfer_analysis::work::{Accuracy, Done, Work, Works};
use profinfer_trace::model::*;
use proptest::prelude::*;

use crate::models::graph::Graph;

fn one(m: &Model, call: u32, node: u32) -> Work {
    several(m, call, node, node)
}

fn several(m: &Model, call: u32, first: u32, last: u32) -> Work {
    Works::compute(m).execution(m, GraphCallId(call), NodeIdx(first), NodeIdx(last))
}

/// Weights, cache, activations, written, operations.
fn numbers(w: Work) -> [u64; 5] {
    [w.weight_bytes, w.cache_bytes, w.activation_bytes, w.written_bytes, w.operations]
}

#[test]
fn a_product_reads_all_of_its_weights() {
    let mut g = Graph::default();
    let w = g.leaf("w", "q8_0", Role::Weight, [64, 96, 1, 1]);
    let x = g.leaf("x", "f32", Role::Input, [64, 5, 1, 1]);
    let y = g.node("y", "MUL_MAT", [96, 5, 1, 1], &[w, x]);
    let v = g.view("RESHAPE", [96, 5, 1, 1], y);
    let m = g.called(&[(5, Some(0))]);
    // 96 rows of two blocks of 34 bytes; 64 columns for each of 96 × 5 elements.
    let want = [96 * 68, 0, 64 * 5 * 4, 96 * 5 * 4, 2 * 64 * 96 * 5];
    assert_eq!((numbers(one(&m, 0, y)), one(&m, 0, y).accuracy), (want, Accuracy::Counted));
    assert_eq!(one(&m, 0, v), Work::default());
    assert_eq!(one(&m, 0, w), Work::default());
}

/// Each of two key heads serves four query heads, and is read once.
#[test]
fn a_product_over_heads_reads_each_key_once() {
    let mut g = Graph::default();
    let cache = g.leaf("cache_k_l0", "f16", Role::Cache, [32, 512, 1, 1]);
    let k = g.view("VIEW", [16, 2, 256, 1], cache);
    let k = g.view("PERMUTE", [16, 256, 2, 1], k);
    let q = g.leaf("q", "f32", Role::Input, [16, 3, 8, 1]);
    let kq = g.node("kq-0", "MUL_MAT", [256, 3, 8, 1], &[k, q]);
    let m = g.called(&[(3, Some(7))]);
    let want = [0, 16 * 256 * 2 * 2, 16 * 3 * 8 * 4, 256 * 3 * 8 * 4, 2 * 16 * 256 * 3 * 8];
    assert_eq!(numbers(one(&m, 0, kq)), want);
}

#[test]
fn rows_are_read_and_written_alone() {
    let mut g = Graph::default();
    let table = g.leaf("token_embd.weight", "q8_0", Role::Weight, [64, 1000, 1, 1]);
    let ids = g.leaf("ids", "i32", Role::Input, [3, 1, 1, 1]);
    let x = g.node("embd", "GET_ROWS", [64, 3, 1, 1], &[table, ids]);
    let cache = g.leaf("cache_k_l0", "f16", Role::Cache, [64, 512, 1, 1]);
    let at = g.leaf("at", "i64", Role::Input, [3, 1, 1, 1]);
    let put = g.view("SET_ROWS", [64, 512, 1, 1], cache);
    let cont = g.node("c", "CONT", [64, 3, 1, 1], &[x]);
    let mut m = g.called(&[(3, Some(0))]);
    m.topologies.rows[0].nodes[put as usize].src =
        vec![(0, NodeIdx(x)), (1, NodeIdx(at)), (2, NodeIdx(cache))];
    assert_eq!(numbers(one(&m, 0, x)), [3 * 68, 0, 3 * 4, 3 * 64 * 4, 0]);
    assert_eq!(numbers(one(&m, 0, put)), [0, 0, 3 * 64 * 4 + 3 * 8, 3 * 64 * 2, 0]);
    assert_eq!(numbers(one(&m, 0, cont)), [0, 0, 3 * 64 * 4, 3 * 64 * 4, 0]);
}

/// Keys of 16 and values of 8 in two heads, queries in four, over a view of 256 cells.
fn attention(n_tokens: u64, masks: usize, calls: &[(u32, Option<u32>)]) -> (Model, u32) {
    let mut g = Graph::default();
    let mut last = 0;
    for layer in 0..masks.max(1) {
        let k = g.leaf("cache_k", "f16", Role::Cache, [32, 512, 1, 1]);
        let k = g.view("VIEW", [16, 256, 2, 1], k);
        let v = g.leaf("cache_v", "f16", Role::Cache, [16, 512, 1, 1]);
        let v = g.view("VIEW", [8, 256, 2, 1], v);
        let q = g.leaf("q", "f32", Role::Input, [16, n_tokens, 4, 1]);
        // As in older engines, the mask has more rows than there are queries.
        let mask = g.leaf("mask", "f16", Role::Input, [256, n_tokens + 60, 1, 1]);
        let src = [q, k, v, mask];
        let src = if masks == 0 { &src[..3] } else { &src };
        last = g.node(&format!("fa-{layer}"), "FLASH_ATTN_EXT", [8, 4, n_tokens, 1], src);
    }
    (g.called(calls), last)
}

#[test]
fn flash_attention_reads_the_cells_that_are_attended() {
    let (m, fa) = attention(1, 1, &[(1, Some(99)), (1, Some(255)), (1, Some(300)), (1, None)]);
    let cell = 2 * (16 + 8) * 2;
    let want = |cells: u64| [0, cells * cell, 16 * 4 * 4 + 256 * 2, 8 * 4 * 4, cells * 4 * 2 * (16 + 8)];
    assert_eq!((numbers(one(&m, 0, fa)), one(&m, 0, fa).accuracy), (want(100), Accuracy::Counted));
    assert_eq!(numbers(one(&m, 1, fa)), want(256));
    // Never more than exist, and all where nothing is known.
    assert_eq!(numbers(one(&m, 2, fa)), want(256));
    assert_eq!((numbers(one(&m, 3, fa)), one(&m, 3, fa).accuracy), (want(256), Accuracy::AtMost));
}

fn part(m: &mut Model, call: u32, seq: i32, n: u32, same: bool) {
    let p = &mut m.parts;
    p.decode.push(LlamaCallId(call));
    p.first.push(0);
    p.n.push(n);
    p.seq.push(Some(seq));
    p.n_seq.push(1);
    p.pos.push(Some(10));
    p.same.push(same);
    p.outputs.push(None);
}

/// The second call has tokens of two sequences, whose positions differ.
#[test]
fn cells_of_several_sequences_are_estimated() {
    let (mut m, fa) = attention(2, 1, &[(2, Some(10)), (2, Some(10))]);
    part(&mut m, 0, 0, 2, false);
    part(&mut m, 1, 0, 1, false);
    part(&mut m, 1, 1, 1, false);
    assert_eq!([0, 1].map(|call| one(&m, call, fa).accuracy), [Accuracy::Counted, Accuracy::Estimated]);
}

/// With M-RoPE a token has four positions. An image has a cell for each of its patches, but not a position.
#[test]
fn cells_after_an_image_are_a_lower_bound() {
    let with = |positions: u64, image: bool| {
        let mut g = Graph::default();
        let k = g.leaf("cache_k", "f16", Role::Cache, [32, 512, 1, 1]);
        let k = g.view("VIEW", [16, 256, 2, 1], k);
        let q = g.leaf("q", "f32", Role::Input, [16, 4, 3, 1]);
        let pos = g.leaf("inp_pos", "i32", Role::Input, [positions, 1, 1, 1]);
        let q = g.node("q_rope", "ROPE", [16, 4, 3, 1], &[q, pos]);
        let q = g.view("PERMUTE", [16, 3, 4, 1], q);
        let mask = g.leaf("mask", "f16", Role::Input, [256, 3, 1, 1]);
        let fa = g.node("fa", "FLASH_ATTN_EXT", [8, 4, 3, 1], &[q, k, k, mask]);
        let mut m = g.called(&[(3, Some(7)), (3, Some(10))]);
        part(&mut m, 0, 0, 3, image);
        one(&m, 1, fa).accuracy
    };
    assert_eq!(
        [with(3, true), with(12, false), with(12, true)],
        [Accuracy::Counted, Accuracy::Counted, Accuracy::AtLeast]
    );
}

#[test]
fn each_query_attends_up_to_itself() {
    let (m, fa) = attention(5, 1, &[(5, Some(10)), (5, Some(253))]);
    let operations = |cells: u64| cells * 4 * 2 * (16 + 8);
    let w = one(&m, 0, fa);
    assert_eq!((w.cache_bytes, w.operations), (15 * 2 * (16 + 8) * 2, operations(11 + 12 + 13 + 14 + 15)));
    assert_eq!(w.activation_bytes, 16 * 5 * 4 * 4 + 256 * 5 * 2);
    let w = one(&m, 1, fa);
    assert_eq!(w.operations, operations(254 + 255 + 256 + 256 + 256));
}

#[test]
fn without_a_mask_all_cells_are_attended() {
    let (m, fa) = attention(2, 0, &[(2, Some(10))]);
    let w = one(&m, 0, fa);
    assert_eq!((w.cache_bytes, w.operations), (256 * 2 * 24 * 2, 2 * 256 * 4 * 2 * 24));
    assert_eq!(w.accuracy, Accuracy::Counted);
}

/// Latent attention keeps one row for each cell: the values are the first 16 of its 24 elements.
#[test]
fn values_that_are_a_part_of_the_keys_are_read_once() {
    let mut g = Graph::default();
    let cache = g.leaf("cache_k_l0", "f16", Role::Cache, [24, 512, 1, 1]);
    let k = g.view("VIEW", [24, 256, 1, 1], cache);
    let v = g.view("VIEW", [16, 256, 1, 1], cache);
    let q = g.leaf("q", "f32", Role::Input, [24, 1, 4, 1]);
    let mask = g.leaf("mask", "f16", Role::Input, [256, 1, 1, 1]);
    let fa = g.node("fa", "FLASH_ATTN_EXT", [16, 4, 1, 1], &[q, k, v, mask]);
    let w = one(&g.called(&[(1, Some(99))]), 0, fa);
    assert_eq!((w.cache_bytes, w.operations), (100 * 24 * 2, 100 * 4 * 2 * (24 + 16)));
}

/// An encoder has no cache: eight tokens, filled up to 256 cells.
#[test]
fn keys_that_are_filled_up_are_not_read_and_are_no_cache() {
    let mut g = Graph::default();
    let mut filled = |length: u64| {
        let of = g.leaf("x", "f32", Role::Input, [length, 8, 2, 1]);
        let padded = g.node("p", "PAD", [length, 256, 2, 1], &[of]);
        g.node("c", "CPY", [length, 256, 2, 1], &[padded])
    };
    let (k, v) = (filled(16), filled(8));
    let q = g.leaf("q", "f32", Role::Input, [16, 8, 4, 1]);
    let mask = g.leaf("mask", "f16", Role::Input, [256, 8, 1, 1]);
    let fa = g.node("fa", "FLASH_ATTN_EXT", [8, 4, 8, 1], &[q, k, v, mask]);
    let w = one(&g.called(&[(8, Some(0))]), 0, fa);
    assert_eq!((w.cache_bytes, w.operations), (0, 8 * 8 * 4 * 2 * (16 + 8)));
    assert_eq!(w.activation_bytes, 16 * 8 * 4 * 4 + 256 * 8 * 2 + 8 * 2 * (16 + 8) * 4);
}

/// Two masks in one graph: one of them is that of a sliding window of unknown size.
#[test]
fn a_sliding_window_leaves_at_most_so_much() {
    let (m, fa) = attention(1, 2, &[(1, Some(99))]);
    assert_eq!((one(&m, 0, fa).accuracy, one(&m, 0, fa).cache_bytes), (Accuracy::AtMost, 100 * 2 * 24 * 2));
}

/// Eight experts of 64 × 32, two of which work for each of three tokens.
fn experts(chosen: &[u32]) -> (Model, u32) {
    let mut g = Graph::default();
    let w = g.leaf("blk.0.ffn_up_exps.weight", "q8_0", Role::Weight, [64, 32, 8, 1]);
    let x = g.leaf("x", "f32", Role::Input, [64, 1, 3, 1]);
    let ids = g.leaf("ids", "i32", Role::Input, [2, 3, 1, 1]);
    let y = g.node("ffn_moe_up-0", "MUL_MAT_ID", [32, 2, 3, 1], &[w, x, ids]);
    let mut m = g.called(&[(3, Some(0))]);
    for (i, expert) in (0..).zip(chosen) {
        m.experts.graph_call.push(GraphCallId(0));
        m.experts.node.push(NodeIdx(y));
        m.experts.token.push(i / 2);
        m.experts.rank.push(i % 2);
        m.experts.expert.push(*expert);
    }
    (m, y)
}

#[test]
fn experts_are_read_once_each() {
    let (m, y) = experts(&[1, 5, 5, 1, 7, 1]);
    let others = [64 * 3 * 4 + 6 * 4, 32 * 6 * 4, 2 * 64 * 32 * 6];
    let w = one(&m, 0, y);
    assert_eq!(numbers(w), [3 * 32 * 68, 0, others[0], others[1], others[2]]);
    assert_eq!(w.accuracy, Accuracy::Counted);
    // A partial or missing selection does not count: at most six of the eight.
    for some in [&[1, 5, 5][..], &[]] {
        let (m, y) = experts(some);
        let w = one(&m, 0, y);
        assert_eq!(numbers(w), [6 * 32 * 68, 0, others[0], others[1], others[2]]);
        assert_eq!(w.accuracy, Accuracy::Estimated);
    }
}

#[test]
fn repacked_weights_count_as_they_are_stored() {
    for (kind, dtype, bytes, accuracy) in [
        ("CPU_REPACK", "q8_0", 96 * 2 * 34, Accuracy::Counted),
        ("AMX", "q8_0", 96 * 2 * 38, Accuracy::Counted),
        ("AMX", "f16", 96 * 64 * 2, Accuracy::Counted),
        ("CPU_KLEIDIAI", "q8_0", 96 * 2 * 34, Accuracy::Estimated),
        // Its properties could not be read, so it may be one of those.
        ("", "q8_0", 96 * 2 * 34, Accuracy::Estimated),
    ] {
        let mut g = Graph::default();
        let w = g.leaf("w", dtype, Role::Weight, [64, 96, 1, 1]);
        g.place(w, kind);
        let x = g.leaf("x", "f32", Role::Input, [64, 1, 1, 1]);
        let y = g.node("y", "MUL_MAT", [96, 1, 1, 1], &[w, x]);
        let m = g.called(&[(1, Some(0))]);
        assert_eq!((one(&m, 0, y).weight_bytes, one(&m, 0, y).accuracy), (bytes, accuracy), "{kind} {dtype}");
    }
}

#[test]
fn rows_of_a_bias_triangles_and_what_only_writes() {
    let mut g = Graph::default();
    let x = g.leaf("x", "f32", Role::Input, [8, 4, 3, 1]);
    let ids = g.leaf("ids", "i32", Role::Input, [4, 3, 1, 1]);
    let of = |g: &mut Graph, experts: u64| {
        let bias = g.leaf("blk.0.ffn_down_exps.bias", "f32", Role::Weight, [8, experts, 1, 1]);
        g.node("y", "ADD_ID", [8, 4, 3, 1], &[x, bias, ids])
    };
    let (many, few) = (of(&mut g, 32), of(&mut g, 6));
    // A matrix of 5 x 5 for each of two heads, and seven columns.
    let matrix = g.leaf("a", "f32", Role::Input, [5, 5, 2, 1]);
    let right = g.leaf("b", "f32", Role::Input, [7, 5, 2, 1]);
    let solved = g.node("x", "SOLVE_TRI", [7, 5, 2, 1], &[matrix, right]);
    let filled = g.node("f", "FILL", [8, 4, 3, 1], &[x]);
    let m = g.called(&[(3, Some(0))]);
    // 12 rows of 8 elements, each with a row of the bias: of 32, 12 are read; of 6, all.
    assert_eq!(numbers(one(&m, 0, many)), [12 * 32, 0, 96 * 4 + 12 * 4, 96 * 4, 96]);
    assert_eq!(numbers(one(&m, 0, few)), [6 * 32, 0, 96 * 4 + 12 * 4, 96 * 4, 96]);
    // Row i: i products and their sum, a difference and a division: 2 i + 2 for i from 0 to 4, so 30 for
    // each column. Of the matrix 15 elements are read.
    assert_eq!(numbers(one(&m, 0, solved)), [0, 0, 2 * 15 * 4 + 70 * 4, 70 * 4, 2 * 7 * 30]);
    assert_eq!(numbers(one(&m, 0, filled)), [0, 0, 0, 96 * 4, 0]);
}

/// A mask of 32 cells for each of two tokens, of which the four best of eight blocks with two cells each,
/// and one further cell, are kept.
#[test]
fn what_is_kept_of_a_mask() {
    let mut g = Graph::default();
    let mask = g.leaf("mask", "f32", Role::Input, [32, 2, 1, 1]);
    let chosen = g.leaf("top_k", "i32", Role::Input, [4, 2, 1, 1]);
    let score = g.leaf("score", "f32", Role::Input, [8, 2, 1, 1]);
    let blocks = g.leaf("blocks", "i32", Role::Input, [2, 8, 1, 1]);
    let further = g.leaf("extra", "i32", Role::Input, [1, 2, 1, 1]);
    let plain = g.node("a", "TOP_K_MASK", [32, 2, 1, 1], &[mask, chosen]);
    let full = g.node("b", "TOP_K_MASK", [32, 2, 1, 1], &[mask, chosen, score, blocks, further]);
    let m = g.called(&[(2, Some(0))]);
    // Eight positions and as many values.
    assert_eq!(numbers(one(&m, 0, plain)), [0, 0, 8 * 4 + 8 * 4, 64 * 4, 0]);
    // Eight positions, their scores, their blocks (all 16 numbers), two further ones, and 18 values.
    assert_eq!(numbers(one(&m, 0, full)), [0, 0, (8 + 8 + 16 + 2 + 18) * 4, 64 * 4, 0]);
}

/// A state of 16 for each of 8 channels; the cache has the states of four sequences.
#[test]
fn a_scan_reads_the_states_of_its_sequences() {
    let scan = |decays: u64, sequences: u64, tokens: u64| {
        let mut g = Graph::default();
        let states = g.leaf("cache_s_l0", "f32", Role::Cache, [16, 1, 8, 4]);
        let x = g.leaf("x", "f32", Role::Input, [1, 8, tokens, sequences]);
        let dt = g.leaf("dt", "f32", Role::Input, [8, tokens, sequences, 1]);
        let a = g.leaf("blk.0.ssm_a", "f32", Role::Weight, [decays, 8, 1, 1]);
        let b = g.leaf("B", "f32", Role::Input, [16, 1, tokens, sequences]);
        let c = g.leaf("C", "f32", Role::Input, [16, 1, tokens, sequences]);
        let ids = g.leaf("ids", "i32", Role::Input, [sequences, 1, 1, 1]);
        let written = 8 * tokens * sequences + 16 * 8 * sequences;
        let y = g.node("y", "SSM_SCAN", [written, 1, 1, 1], &[states, x, dt, a, b, c, ids]);
        let w = one(&g.called(&[(1, Some(0))]), 0, y);
        assert_eq!(w.accuracy, Accuracy::Counted);
        numbers(w)
    };
    // One token of one sequence: 128 elements of the state.
    let input = (8 + 8 + 16 + 16 + 1) * 4;
    assert_eq!(scan(1, 1, 1), [8 * 4, 128 * 4, input, (8 + 128) * 4, 5 * 128]);
    assert_eq!(scan(16, 1, 1), [16 * 8 * 4, 128 * 4, input, (8 + 128) * 4, 7 * 128]);
    // Three tokens of each of two sequences: each state is read once.
    let input = 6 * (8 + 8 + 16 + 16) * 4 + 2 * 4;
    assert_eq!(scan(1, 2, 3), [8 * 4, 2 * 128 * 4, input, (6 * 8 + 2 * 128) * 4, 6 * 5 * 128]);
}

#[test]
fn states_of_other_layers() {
    let mut g = Graph::default();
    // Two heads with states of 4 x 4; three tokens.
    let v = |g: &mut Graph| g.leaf("v", "f32", Role::Input, [4, 2, 3, 1]);
    let (q, k, value) = (v(&mut g), v(&mut g), v(&mut g));
    let gate = g.leaf("g", "f32", Role::Input, [1, 2, 3, 1]);
    let beta = g.leaf("beta", "f32", Role::Input, [1, 2, 3, 1]);
    let state = g.leaf("state", "f32", Role::Input, [4, 4, 2, 1]);
    let delta = g.node("d", "GATED_DELTA_NET", [8, 3 + 4, 1, 1], &[q, k, value, gate, beta, state]);
    let (r, w, a, b) = (v(&mut g), v(&mut g), v(&mut g), v(&mut g));
    let rwkv = g.node("r", "RWKV_WKV7", [8, 3 + 4, 1, 1], &[r, w, k, value, a, b, state]);
    let conv_x = g.leaf("x", "f32", Role::Input, [3 + 3, 8, 1, 1]);
    let kernel = g.leaf("blk.0.ssm_conv1d.weight", "f32", Role::Weight, [4, 8, 1, 1]);
    let conv = g.node("c", "SSM_CONV", [8, 3, 1, 1], &[conv_x, kernel]);
    let m = g.called(&[(3, Some(0))]);
    let (per_token, input) = (2 * 16, 24 * 4);
    let want = [0, 0, 3 * input + 2 * 6 * 4 + 32 * 4, 56 * 4, 3 * per_token * 7 + 24 * 3];
    assert_eq!((numbers(one(&m, 0, delta)), one(&m, 0, delta).accuracy), (want, Accuracy::Counted));
    assert_eq!(numbers(one(&m, 0, rwkv)), [0, 0, 6 * input + 32 * 4, 56 * 4, 3 * per_token * 9]);
    assert_eq!(numbers(one(&m, 0, conv)), [32 * 4, 0, 48 * 4, 24 * 4, 2 * 4 * 24]);
}

#[test]
fn what_is_not_known_counts_as_none() {
    let mut g = Graph::default();
    let x = g.leaf("x", "f32", Role::Input, [64, 2, 1, 1]);
    let y = g.node("y", "POOL_2D", [32, 1, 1, 1], &[x]);
    let z = g.node("z", "MUL", [64, 2, 1, 1], &[x, x]);
    let q = g.leaf("q", "f32", Role::Input, [64, 2, 1, 1]);
    g.forget_bytes(q);
    let n = g.node("n", "ADD", [64, 2, 1, 1], &[x, q]);
    let m = g.called(&[(2, Some(0))]);
    assert_eq!((numbers(one(&m, 0, y)), one(&m, 0, y).accuracy), ([0; 5], Accuracy::AtLeast));
    // It has no rate either.
    let done = Done::new(&one(&m, 0, y), Some(100));
    assert_eq!((done.bytes_per_s, done.operations_per_s, done.intensity), (None, None, None));
    assert_eq!(Done::new(&one(&m, 0, z), Some(100)).operations_per_s, Some(1.28e9));
    // The same source twice is read once.
    assert_eq!((numbers(one(&m, 0, z)), one(&m, 0, z).accuracy), ([0, 0, 512, 512, 128], Accuracy::Counted));
    assert_eq!(one(&m, 0, n).accuracy, Accuracy::Estimated);
}

#[test]
fn a_fused_operator_keeps_what_is_between_its_parts() {
    let mut g = Graph::default();
    let x = g.leaf("x", "f32", Role::Input, [64, 2, 1, 1]);
    let w = g.leaf("w", "f32", Role::Weight, [64, 1, 1, 1]);
    let norm = g.node("norm-0", "RMS_NORM", [64, 2, 1, 1], &[x]);
    let shown = g.view("RESHAPE", [64, 2, 1, 1], norm);
    let mul = g.node("attn_norm-0", "MUL", [64, 2, 1, 1], &[shown, w]);
    let m = g.called(&[(2, Some(0))]);
    assert_eq!(numbers(one(&m, 0, norm)), [0, 0, 512, 512, 3 * 128]);
    assert_eq!(numbers(one(&m, 0, mul)), [256, 0, 512, 512, 128]);
    assert_eq!(numbers(several(&m, 0, norm, mul)), [256, 0, 512, 512, 4 * 128]);
}

proptest! {
    /// For any chain of operators, whatever their sources.
    #[test]
    fn fused_is_never_more_than_its_parts(
        ops in prop::collection::vec((0_usize..7, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12),
        n_past in 0_u32..500,
    ) {
        const OPS: [&str; 7] = ["ADD", "RMS_NORM", "MUL", "RESHAPE", "MUL_MAT", "GET_ROWS", "FLASH_ATTN_EXT"];
        let mut g = Graph::default();
        let ne = [32, 32, 1, 1];
        let mut tensors = vec![g.leaf("x", "f32", Role::Input, ne), g.leaf("w", "q8_0", Role::Weight, ne)];
        let first = tensors.len() as u32;
        for (op, a, b) in ops {
            let (a, b) = (*a.get(&tensors), *b.get(&tensors));
            let node = match OPS[op] {
                "RESHAPE" => g.view("RESHAPE", ne, a),
                "FLASH_ATTN_EXT" => g.node("n", OPS[op], ne, &[a, b, a]),
                "RMS_NORM" => g.node("n", OPS[op], ne, &[a]),
                _ => g.node("n", OPS[op], ne, &[a, b]),
            };
            tensors.push(node);
        }
        let last = *tensors.last().unwrap();
        let m = g.called(&[(32, Some(n_past))]);
        let whole = several(&m, 0, first, last);
        let mut parts = Work::default();
        (first..=last).for_each(|n| parts.add(&one(&m, 0, n)));
        prop_assert_eq!(whole.operations, parts.operations);
        prop_assert_eq!(whole.weight_bytes, parts.weight_bytes);
        prop_assert!(whole.read_bytes() <= parts.read_bytes());
        prop_assert!(whole.written_bytes <= parts.written_bytes);
    }
}
