//! A session as an engine makes it: layers of operators, threads that meet at a barrier after each,
//! prompts and then tokens, several contexts. Deterministic in its seed.

use super::random::Random;
use crate::model::*;

/// What to make.
#[derive(Debug, Clone)]
pub struct Spec {
    pub seed: u64,
    pub contexts: u32,
    pub requests: u32,
    /// Decode calls per request.
    pub tokens: u32,
    pub layers: u32,
    pub threads: u32,
    /// Parts that the scheduler makes of a graph.
    pub splits: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { seed: 1, contexts: 1, requests: 1, tokens: 4, layers: 2, threads: 2, splits: 1 }
    }
}

/// Name without the layer, operator, description, relative time. An operator that begins with `+`
/// is computed by the kernel of the previous one.
const LAYER: [(&str, &str, &str, u64); 17] = [
    ("norm", "RMS_NORM", "RMS_NORM", 5),
    ("attn_norm", "+MUL", "MUL", 0),
    ("Qcur", "MUL_MAT", "MUL_MAT", 90),
    ("Qcur", "RESHAPE", "RESHAPE", 0),
    ("Qcur", "ROPE", "ROPE", 6),
    ("Kcur", "MUL_MAT", "MUL_MAT", 40),
    ("cache_k (view)", "SET_ROWS", "SET_ROWS", 3),
    ("cache_k (permuted)", "PERMUTE", "PERMUTE", 0),
    ("kqv", "FLASH_ATTN_EXT", "FLASH_ATTN_EXT", 30),
    ("attn_out", "MUL_MAT", "MUL_MAT", 90),
    ("ffn_inp", "ADD", "ADD", 4),
    ("norm", "RMS_NORM", "RMS_NORM", 5),
    ("ffn_norm", "+MUL", "MUL", 0),
    ("ffn_gate", "MUL_MAT", "MUL_MAT", 250),
    ("ffn_act", "UNARY", "SILU", 8),
    ("ffn_out", "MUL_MAT", "MUL_MAT", 250),
    ("l_out", "ADD", "ADD", 4),
];

fn is_run(op: &str) -> bool {
    !op.starts_with('+') && !matches!(op, "RESHAPE" | "PERMUTE")
}

fn topology(texts: &mut Texts, spec: &Spec, split: u32, n_tokens: u64) -> Topology {
    let n_nodes = spec.layers * LAYER.len() as u32;
    let mut nodes = Vec::new();
    let mut leafs = Vec::new();
    for layer in 0..spec.layers {
        for (name, op, desc, _) in LAYER {
            let i = nodes.len() as u32;
            let mut src = vec![(0, NodeIdx(i.checked_sub(1).unwrap_or(n_nodes)))];
            let mut tensor = |name: &str, op: &str, desc: &str, role, ne: [u64; 4], src| Node {
                name: texts.intern(name),
                op: texts.intern(op),
                desc: texts.intern(desc),
                dtype: texts.intern(if role == Role::Weight { "q4_K" } else { "f32" }),
                role,
                ne,
                bytes: ne.iter().product(),
                address: 0,
                data: 0,
                buffer: None,
                view_of: None,
                src,
            };
            if leafs.is_empty() {
                leafs.push(tensor("inp", "NONE", "NONE", Role::Input, [n_tokens, 1, 1, 1], vec![]));
            }
            if op == "MUL_MAT" || op == "+MUL" {
                src.push((1, NodeIdx(n_nodes + leafs.len() as u32)));
                let weight = format!("blk.{layer}.{name}.{split}.weight");
                leafs.push(tensor(&weight, "NONE", "NONE", Role::Weight, [64, 64, 1, 1], vec![]));
            }
            let op = op.trim_start_matches('+');
            let name = format!("{name}-{}", layer + split * spec.layers);
            nodes.push(tensor(&name, op, desc, Role::Node, [64, n_tokens, 1, 1], src));
        }
    }
    nodes.append(&mut leafs);
    Topology { pid: 7, n_nodes, nodes, complete: true }
}

/// Makes the session.
pub fn model(spec: &Spec) -> Model {
    let mut m = Model::default();
    m.session.start_ns = 1_000_000;
    m.session.levels = vec![Level::Token, Level::Graph, Level::Op];
    let comm = m.texts.intern("llama-bench");
    for t in 0..spec.threads {
        let id = m.threads.find_or_add(100 + t);
        m.threads.describe(id, 7, comm);
    }
    // Per context: topologies of prefill and decode, each in splits.
    for _ in 0..spec.contexts {
        for n_tokens in [16, 1] {
            for split in 0..spec.splits {
                let topology = topology(&mut m.texts, spec, split, n_tokens);
                m.topologies.rows.push(topology);
            }
        }
    }
    let mut random = Random(spec.seed);
    let mut now = 2_000_000;
    for _ in 0..spec.requests {
        for context in 0..spec.contexts {
            for token in 0..=spec.tokens {
                let n_tokens = if token == 0 { 16 } else { 1 };
                now = decode(&mut m, spec, &mut random, context, n_tokens, now) + random.below(2_000);
            }
        }
    }
    let n = m.spans.len() as u64;
    m.health.spans_received = n;
    m.health.ledger = Some(Ledger { span_starts: n, span_ends: n, spans_sent: n, ..Default::default() });
    m
}

fn decode(m: &mut Model, spec: &Spec, random: &mut Random, context: u32, n_tokens: u32, start: u64) -> u64 {
    let decode = LlamaCallId(m.llama_calls.len() as u32);
    let cpu = m.texts.intern("CPU");
    let scheduler = GraphCallId(m.graph_calls.len() as u32);
    let mut open = |layer, backend, topology, parent, start| {
        let g = &mut m.graph_calls;
        g.start_ns.push(start);
        g.duration_ns.push(0);
        g.layer.push(layer);
        g.backend.push(backend);
        g.topology.push(topology);
        g.n_nodes.push(spec.layers * LAYER.len() as u32);
        g.n_tokens.push(n_tokens);
        g.n_past.push(None);
        g.thread.push(ThreadId(0));
        g.decode.push(Some(decode));
        g.parent.push(parent);
        g.len() - 1
    };
    let row = open(Layer::Scheduler, Text::default(), None, None, start + random.below(500));
    let mut rows = vec![row];
    let mut now = start + 500 + random.below(500);
    for split in 0..spec.splits {
        let first = (context * 2 + u32::from(n_tokens == 1)) * spec.splits;
        rows.push(open(Layer::Backend, cpu, Some(TopologyId(first + split)), Some(scheduler), now));
        now += 1 + random.below(500);
    }
    // The parts one after another, now that they have a row.
    let mut now = m.graph_calls.start_ns[rows[1]];
    for row in &rows[1..] {
        m.graph_calls.start_ns[*row] = now;
        let first = now + random.below(300);
        now = compute(m, spec, random, GraphCallId(*row as u32), first, n_tokens);
        m.graph_calls.duration_ns[*row] = now - m.graph_calls.start_ns[*row];
        now += random.below(200);
    }
    m.graph_calls.duration_ns[rows[0]] = now - m.graph_calls.start_ns[rows[0]];
    now += random.below(300);
    let d = &mut m.llama_calls;
    d.start_ns.push(start);
    d.duration_ns.push(now - start);
    d.function.push(DecodeFunction::LlamaDecode);
    d.thread.push(ThreadId(0));
    d.context.push(0x5000 + u64::from(context));
    d.n_tokens.push(n_tokens);
    d.status.push(0);
    now
}

/// Runs the operators of one layer after the other; returns the end of the graph.
fn compute(
    m: &mut Model,
    spec: &Spec,
    random: &mut Random,
    call: GraphCallId,
    start: u64,
    n_tokens: u32,
) -> u64 {
    let threads = spec.threads as usize;
    let mut spans: Vec<Vec<(NodeIdx, NodeIdx, u64, u64)>> = vec![Vec::new(); threads];
    let mut now = start;
    for node in 0..spec.layers * LAYER.len() as u32 {
        let (_, op, _, cost) = LAYER[node as usize % LAYER.len()];
        if !is_run(op) {
            continue;
        }
        let fused = LAYER.get(node as usize % LAYER.len() + 1).is_some_and(|next| next.1.starts_with('+'));
        let mut end = now;
        for rows in &mut spans {
            let begin = now + random.below(200);
            let work = 50 + cost * 100 * u64::from(n_tokens) + random.below(1 + cost * 20);
            rows.push((NodeIdx(node), NodeIdx(node + u32::from(fused)), begin, work));
            end = end.max(begin + work);
        }
        // All threads leave the barrier after the last has come.
        now = end + 20 + random.below(100);
    }
    for (thread, rows) in (0..).map(ThreadId).zip(&spans) {
        for (i, &(node, last_node, begin, work)) in rows.iter().enumerate() {
            let next = rows.get(i + 1).map_or(now, |n| n.2);
            let s = &mut m.spans;
            s.graph_call.push(call);
            s.thread.push(thread);
            s.node.push(node);
            s.last_node.push(last_node);
            s.start_ns.push(begin);
            s.work_ns.push(work);
            let lost = random.below(1_000) == 0;
            s.wait_ns.push(if lost { WAIT_UNKNOWN } else { (next - begin - work) as u32 });
            s.cpu.push(Some(thread.0 as u16));
            s.migrated.push(random.below(500) == 0);
        }
    }
    now
}
