//! A session defined by its `llama_decode` calls: each has graphs with logits rows, a position and
//! cells, and two operators with a time.

use profinfer_trace::model::*;

use super::rows::{sources, tensor};

/// A call. One graph for each of `rows`; without any, a graph that was not read.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) context: u64,
    pub(crate) n_tokens: u32,
    pub(crate) rows: Vec<u64>,
    pub(crate) n_past: u32,
    pub(crate) n_kv: u64,
    pub(crate) length: u64,
    /// Time of attention and of the feed-forward product in each graph, ns.
    pub(crate) work: [u64; 2],
}

/// Cells of the cache.
pub(crate) const CELLS: u64 = 4_096;
/// Contexts from this address on compute slightly larger graphs.
pub(crate) const LARGE: u64 = 0x9000;

/// A call of 100 ns.
pub(crate) fn call(context: u64, n_tokens: u32, rows: &[u64], n_past: u32) -> Call {
    Call { context, n_tokens, rows: rows.to_vec(), n_past, n_kv: 256, length: 100, work: [20, 30] }
}

fn topology(texts: &mut Texts, c: &Call, rows: u64, picks: bool) -> Topology {
    let mut node = |name: &str, op: &str, role, ne: [u64; 4], src: &[u32], view_of: Option<u32>| Node {
        role,
        ne,
        view_of: view_of.map(NodeIdx),
        src: sources(src),
        ..tensor(texts, name, op, "f32")
    };
    let mut nodes = vec![
        node("embd", "GET_ROWS", Role::Node, [64, u64::from(c.n_tokens), 1, 1], &[], None),
        node("cache_k_l0 (view)", "VIEW", Role::Node, [64, c.n_kv, 1, 1], &[], None),
        node("node_2", "FLASH_ATTN_EXT", Role::Node, [64, 1, 1, 1], &[0, 1], None),
        node("ffn_out-0", "MUL_MAT", Role::Node, [64, rows, 1, 1], &[0], None),
        node("picked", "SCALE", Role::Node, [64, rows, 1, 1], &[3], None),
        node("result_output", "MUL_MAT", Role::Node, [256, rows, 1, 1], &[4], None),
    ];
    if c.context >= LARGE {
        nodes.push(node("more", "SCALE", Role::Node, [256, rows, 1, 1], &[5], None));
    }
    let n_nodes = nodes.len() as u32;
    nodes.push(node("cache_k_l0", "NONE", Role::Cache, [64, CELLS, 1, 1], &[], None));
    if picks {
        // Some releases give this input no name.
        nodes.push(node("leaf_7", "NONE", Role::Input, [rows, 1, 1, 1], &[], None));
        nodes[4].op = texts.intern("GET_ROWS");
        nodes[4].src.push((1, NodeIdx(n_nodes + 1)));
    }
    nodes[1].view_of = Some(NodeIdx(n_nodes));
    nodes[1].src = vec![(0, NodeIdx(n_nodes))];
    Topology { pid: 7, n_nodes, nodes, complete: true }
}

/// The session; `picks`: its engine selects the tokens that have logits.
pub(crate) fn model(calls: &[Call], picks: bool) -> Model {
    let mut m = Model::default();
    m.session.levels = vec![Level::Token, Level::Graph, Level::Op];
    let thread = m.threads.find_or_add(100);
    let name = m.texts.intern("engine");
    m.threads.describe(thread, 7, name);
    let cpu = m.texts.intern("CPU");
    let mut start = 1_000;
    let mut known: Vec<(u64, u32, u64, u64)> = Vec::new();
    for c in calls {
        let decode = LlamaCallId(m.llama_calls.len() as u32);
        let d = &mut m.llama_calls;
        d.start_ns.push(start);
        d.duration_ns.push(c.length);
        d.function.push(DecodeFunction::LlamaDecode);
        d.thread.push(thread);
        d.context.push(c.context);
        d.n_tokens.push(c.n_tokens);
        d.status.push(0);
        let graphs = if c.rows.is_empty() { vec![None] } else { c.rows.iter().copied().map(Some).collect() };
        for (n, rows) in (0..).zip(graphs) {
            let key = rows.map(|rows| (c.context, c.n_tokens, rows, c.n_kv));
            let topology = key.map(|key| {
                known.iter().position(|k| *k == key).unwrap_or_else(|| {
                    known.push(key);
                    let topology = topology(&mut m.texts, c, key.2, picks);
                    m.topologies.rows.push(topology);
                    known.len() - 1
                })
            });
            let topology = topology.map(|t| TopologyId(t as u32));
            let begin = start + 1 + n * (c.work[0] + c.work[1]);
            let g = &mut m.graph_calls;
            let scheduler = GraphCallId(g.len() as u32);
            for (layer, backend, topology, parent) in [
                (Layer::Scheduler, Text::default(), None, None),
                (Layer::Backend, cpu, topology, Some(scheduler)),
            ] {
                g.start_ns.push(begin);
                g.duration_ns.push(c.work[0] + c.work[1]);
                g.layer.push(layer);
                g.backend.push(backend);
                g.topology.push(topology);
                g.n_nodes.push(if c.context >= LARGE { 7 } else { 6 });
                g.n_tokens.push(c.n_tokens);
                g.n_past.push((layer == Layer::Backend && topology.is_some()).then_some(c.n_past));
                g.thread.push(thread);
                g.decode.push(Some(decode));
                g.parent.push(parent);
            }
            if topology.is_some() {
                for (node, start, work) in [(2, begin, c.work[0]), (3, begin + c.work[0], c.work[1])] {
                    let s = &mut m.spans;
                    s.graph_call.push(GraphCallId(scheduler.0 + 1));
                    s.thread.push(thread);
                    s.node.push(NodeIdx(node));
                    s.last_node.push(NodeIdx(node));
                    s.start_ns.push(start);
                    s.work_ns.push(work);
                    s.wait_ns.push(0);
                    s.cpu.push(Some(0));
                    s.migrated.push(false);
                }
            }
        }
        start += c.length + 10;
    }
    m
}

/// Gives each call a graph that computes `rows` rows of logits.
pub(crate) fn with_logits(m: &mut Model, rows: u64) {
    let node = Node {
        ne: [256, rows, 1, 1],
        src: sources(&[]),
        ..tensor(&mut m.texts, "result_output", "MUL_MAT", "f32")
    };
    m.topologies.rows.push(Topology { pid: 0, n_nodes: 1, nodes: vec![node], complete: true });
    let topology = TopologyId(m.topologies.rows.len() as u32 - 1);
    for i in 0..m.llama_calls.len() {
        let g = &mut m.graph_calls;
        g.start_ns.push(m.llama_calls.start_ns[i]);
        g.duration_ns.push(1);
        g.layer.push(Layer::Backend);
        g.backend.push(Text::default());
        g.topology.push(Some(topology));
        g.n_nodes.push(1);
        g.n_tokens.push(m.llama_calls.n_tokens[i]);
        g.n_past.push(None);
        g.thread.push(m.llama_calls.thread[i]);
        g.decode.push(Some(LlamaCallId(i as u32)));
        g.parent.push(None);
    }
}
