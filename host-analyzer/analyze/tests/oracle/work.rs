//! Bytes and operations of real graphs, compared with arithmetic on the hyper-parameters of
//! `scripts/gen_models.py`: this test does not look at the shapes in the recording.

use std::collections::BTreeSet;

use profinfer_analysis::Analysis;
use profinfer_analysis::bound::Kind;
use profinfer_analysis::module::Module;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::work::{Accuracy, Work, Works};
use profinfer_trace::model::{GraphCallId, Model, NodeIdx};

use crate::nodes::{backend_calls, topology};
use crate::support::{Parts, model, parts, record, tool};

/// The shape of a model, from its recipe.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    embd: u64,
    ff: u64,
    heads: u64,
    kv_heads: u64,
    head: u64,
    vocab: u64,
    /// Name of the matrix after the last layer: that of the embedding if both are the same.
    head_weight: &'static str,
    /// Bytes and elements of a block of most weights, of `ffn_down`, and of embeddings and head.
    weights: (u64, u64),
    down: (u64, u64),
    output: (u64, u64),
}

const Q8_0: (u64, u64) = (34, 32);
const Q4_0: (u64, u64) = (18, 32);
const Q4_K: (u64, u64) = (144, 256);
const Q6_K: (u64, u64) = (210, 256);

const DENSE: Shape = Shape {
    name: "dense-q8",
    embd: 256,
    ff: 512,
    heads: 8,
    kv_heads: 2,
    head: 32,
    vocab: 1024,
    head_weight: "output.weight",
    weights: Q8_0,
    down: Q8_0,
    output: Q8_0,
};

fn matrix(columns: u64, rows: u64, (bytes, elements): (u64, u64)) -> u64 {
    columns * rows / elements * bytes
}

fn run(parts: &Parts, name: &str, flash: &str) -> Option<Model> {
    let (tool, gguf) = (tool("llama-completion")?, model(parts, name));
    let prompt = "one two three four five six seven eight nine ten";
    let fixed = ["-t", "2", "-n", "3", "-c", "512", "--no-warmup", "-no-cnv", "--temp", "0", "-p", prompt];
    let command = [&[tool.to_str().unwrap(), "-m", &gguf, "-fa", flash][..], &fixed].concat();
    let (trace, _) = record(parts, &[], &command);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    Some(trace)
}

/// The work of the first executed node with this name and operator in a call; of any name if it is
/// empty.
fn of(trace: &Model, call: u32, name: &str, op: &str) -> Work {
    executed(trace, call, name, op, 0)
}

/// The work of the product after the last layer, which has another name if the logits are capped.
fn head(trace: &Model, call: u32) -> Work {
    let products = backend_calls(trace, call as usize).into_iter().flat_map(|graph| {
        let topology = topology(trace, graph);
        topology.nodes[..topology.n_nodes as usize].iter().filter(|n| trace.texts.get(n.op) == "MUL_MAT")
    });
    executed(trace, call, "", "MUL_MAT", products.count() - 1)
}

fn executed(trace: &Model, call: u32, name: &str, op: &str, skip: usize) -> Work {
    let found = backend_calls(trace, call as usize).into_iter().find_map(|graph| {
        let topology = topology(trace, graph);
        let spans = &trace.spans;
        let mut of_node = (0..spans.len()).filter(|i| {
            let node = topology.node(spans.node[*i]);
            let named = name.is_empty() || trace.texts.get(node.name) == name;
            spans.graph_call[*i] == graph && named && trace.texts.get(node.op) == op
        });
        let at = of_node.nth(skip)?;
        Some((graph, spans.node[at], spans.last_node[at]))
    });
    let (graph, node, last): (GraphCallId, NodeIdx, NodeIdx) =
        found.unwrap_or_else(|| panic!("{name} {op} ran"));
    Works::compute(trace).execution(trace, graph, node, last)
}

fn n_tokens(trace: &Model, call: u32) -> u64 {
    trace.llama_calls.n_tokens[call as usize].into()
}

fn numbers(w: Work) -> [u64; 5] {
    [w.weight_bytes, w.cache_bytes, w.activation_bytes, w.written_bytes, w.operations]
}

/// Bytes and elements of a block in the buffer of a weight: Intel's tile kernels store sums next to
/// some types (`get_row_size` in `ggml-cpu/amx/mmq.cpp`). The test `weights` compares the buffer of
/// a weight with the engine's log.
fn lies(trace: &Model, weight: &str, block: (u64, u64)) -> (u64, u64) {
    let buffer = trace.topologies.iter().find_map(|(_, t)| {
        let products = t.nodes.iter().filter(|n| trace.texts.get(n.op) == "MUL_MAT");
        let mut weights = products.filter_map(|n| Some(t.node(n.src.first()?.1)));
        weights.find(|w| trace.texts.get(w.name) == weight)?.buffer
    });
    let buffer = buffer.unwrap_or_else(|| panic!("{weight} is a product's and lies in a buffer"));
    match block {
        Q8_0 if trace.buffers[buffer.0 as usize].kind == "AMX" => (38, 32),
        Q4_K if trace.buffers[buffer.0 as usize].kind == "AMX" => (148, 256),
        other => other,
    }
}

/// Products, the first lookup and the first norm, in the prompt and in the second token after it.
fn check_products(trace: &Model, s: Shape) {
    for call in [0, 2] {
        let n = n_tokens(trace, call);
        assert_eq!(n == 1, call == 2, "{}: one prompt, then token by token", s.name);
        let product = |columns: u64, rows: u64, weight, block| {
            [
                matrix(columns, rows, lies(trace, weight, block)),
                0,
                columns * n * 4,
                rows * n * 4,
                2 * columns * rows * n,
            ]
        };
        let q = s.heads * s.head;
        assert_eq!(
            numbers(of(trace, call, "Qcur-0", "MUL_MAT")),
            product(s.embd, q, "blk.0.attn_q.weight", s.weights),
            "{}",
            s.name
        );
        let kv = s.kv_heads * s.head;
        assert_eq!(
            numbers(of(trace, call, "Kcur-1", "MUL_MAT")),
            product(s.embd, kv, "blk.1.attn_k.weight", s.weights),
            "{}",
            s.name
        );
        if s.ff > 0 {
            let up = of(trace, call, "ffn_up-1", "MUL_MAT");
            assert_eq!(numbers(up), product(s.embd, s.ff, "blk.1.ffn_up.weight", s.weights), "{}", s.name);
            let down = of(trace, call, "ffn_out-0", "MUL_MAT");
            assert_eq!(numbers(down), product(s.ff, s.embd, "blk.0.ffn_down.weight", s.down), "{}", s.name);
            assert_eq!(down.accuracy, Accuracy::Counted);
        }
        // Only the logits of the last token are requested.
        let output = lies(trace, s.head_weight, s.output);
        let logits = [matrix(s.embd, s.vocab, output), 0, s.embd * 4, s.vocab * 4, 2 * s.embd * s.vocab];
        assert_eq!(numbers(head(trace, call)), logits, "{}", s.name);
        let rows = [matrix(s.embd, n, s.output), 0, n * 4, s.embd * n * 4, 0];
        assert_eq!(numbers(of(trace, call, "embd", "GET_ROWS")), rows, "{}", s.name);
        // Fused with the product after it, so the intermediate result is neither written nor read.
        let norm = [s.embd * 4, 0, s.embd * n * 4, s.embd * n * 4, 4 * s.embd * n];
        assert_eq!(numbers(of(trace, call, "norm-0", "RMS_NORM")), norm, "{}", s.name);
        // Keys in 16 bits, at positions of 64.
        let keys = [0, 0, kv * n * 4 + n * 8, kv * n * 2, 0];
        assert_eq!(numbers(of(trace, call, "cache_k_l0 (view)", "SET_ROWS")), keys, "{}", s.name);
    }
}

/// With flash attention, only the cells of tokens so far are read.
fn check_flash(trace: &Model, s: Shape, accuracy: Accuracy) {
    for call in [0, 2] {
        let (n, past) = (n_tokens(trace, call), if call == 0 { 0 } else { n_tokens(trace, 0) + 1 });
        let w = of(trace, call, "", "FLASH_ATTN_EXT");
        let attended: u64 = (0..n).map(|i| past + i + 1).sum();
        assert_eq!(w.cache_bytes, (past + n) * 2 * s.kv_heads * s.head * 2, "{}", s.name);
        assert_eq!(w.operations, attended * s.heads * 4 * s.head, "{}", s.name);
        assert_eq!((w.written_bytes, w.accuracy), (n * s.heads * s.head * 4, accuracy), "{}", s.name);
    }
}

/// Without it, the two products cover the 256 cells to which the engine pads.
fn check_products_with_cache(trace: &Model, s: Shape) {
    for call in [0, 2] {
        let n = n_tokens(trace, call);
        let (cache, q, kq) = (256 * s.kv_heads * s.head * 2, s.heads * s.head * n * 4, 256 * s.heads * n * 4);
        let operations = 2 * 256 * s.heads * s.head * n;
        assert_eq!(numbers(of(trace, call, "kq-0", "MUL_MAT")), [0, cache, q, kq, operations], "{}", s.name);
        assert_eq!(numbers(of(trace, call, "kqv-0", "MUL_MAT")), [0, cache, kq, q, operations], "{}", s.name);
    }
}

fn dense(shape: Shape) {
    let Some(parts) = parts() else { return };
    for flash in ["on", "off"] {
        let Some(trace) = run(&parts, shape.name, flash) else { return };
        check_products(&trace, shape);
        if flash == "on" {
            check_flash(&trace, shape, Accuracy::Counted);
        } else {
            check_products_with_cache(&trace, shape);
        }
        check_sums(&trace);
    }
}

/// All operators together: every module is found, and nothing in these graphs needs to be estimated.
fn check_sums(trace: &Model) {
    let a = Analysis::compute(trace);
    let decode = a.roof.decode.expect("decode calls");
    assert_ne!(decode.accuracy, Accuracy::Estimated);
    assert_eq!(a.bound.len(), a.op.operators.len());
    assert!(a.bound.iter().all(|b| b.by == Kind::Unknown || !b.evidence.is_empty()));
    let modules: BTreeSet<Module> =
        a.module.modules.iter().filter(|s| s.phase == Phase::Decode).filter_map(|s| s.module).collect();
    for module in [Module::Embedding, Module::Attention, Module::Norm, Module::Head] {
        assert!(modules.contains(&module), "{module:?}");
    }
    assert!(!modules.contains(&Module::Other), "{:?}", a.module.modules);
}

#[test]
fn dense_model_with_and_without_flash_attention() {
    dense(DENSE);
}

#[test]
fn k_quants_of_two_sizes() {
    dense(Shape { name: "dense-q4k", weights: Q4_K, down: Q6_K, output: Q6_K, ..DENSE });
}

/// Most CPU variants repack it, into blocks of the same size.
#[test]
fn a_repacked_model() {
    dense(Shape { name: "dense-q4", weights: Q4_0, down: Q4_0, output: Q4_0, ..DENSE });
}

#[test]
fn grouped_queries_of_another_family() {
    dense(Shape { name: "qwen2-q8", ff: 704, ..DENSE });
}

/// Half of the layers have a window of 128 cells, which no graph shows.
#[test]
fn sliding_window() {
    let Some(parts) = parts() else { return };
    let shape =
        Shape { name: "gemma2-q8", ff: 1024, heads: 4, head: 64, head_weight: "token_embd.weight", ..DENSE };
    let Some(trace) = run(&parts, shape.name, "on") else { return };
    check_products(&trace, shape);
    check_flash(&trace, shape, Accuracy::AtMost);
    check_sums(&trace);
    let Some(trace) = run(&parts, shape.name, "off") else { return };
    check_products_with_cache(&trace, shape);
}

/// Bytes of the different experts that the routers chose, counted here from the rows of the table.
#[test]
fn mixture_of_experts() {
    let Some(parts) = parts() else { return };
    let shape = Shape { name: "moe-qwen60", ff: 0, kv_heads: 8, ..DENSE };
    let Some(trace) = run(&parts, shape.name, "on") else { return };
    check_products(&trace, shape);
    check_flash(&trace, shape, Accuracy::Counted);
    check_sums(&trace);
    let (expert_ff, used) = (128, 4);
    for call in [0, 2] {
        let n = n_tokens(&trace, call);
        let e = &trace.experts;
        let of_call =
            |i: &usize| trace.graph_calls.decode[e.graph_call[*i].0 as usize].is_some_and(|d| d.0 == call);
        let first = (0..e.len()).find(of_call).expect("experts were chosen");
        let of_layer = (0..e.len()).filter(of_call).filter(|i| e.node[*i] == e.node[first]);
        let distinct = of_layer.map(|i| e.expert[i]).collect::<BTreeSet<_>>().len() as u64;
        assert!(distinct >= used && (call != 2 || distinct == used));
        let ids = n * used * 4;
        let expert = matrix(shape.embd, expert_ff, Q8_0);
        let (x, y) = (shape.embd * 4, expert_ff * 4);
        let operations = 2 * shape.embd * expert_ff * used * n;
        let up = [distinct * expert, 0, n * x + ids, n * used * y, operations];
        assert_eq!(numbers(of(&trace, call, "ffn_moe_up-0", "MUL_MAT_ID")), up);
        let down = [distinct * expert, 0, n * used * y + ids, n * used * x, operations];
        assert_eq!(numbers(of(&trace, call, "ffn_moe_down-0", "MUL_MAT_ID")), down);
        assert_eq!(of(&trace, call, "ffn_moe_down-0", "MUL_MAT_ID").accuracy, Accuracy::Counted);
    }
}
