//! A session of a model with routers: the test gives the selections, and everything else is made
//! around them.

use profinfer_trace::model::*;

use super::rows;

pub(crate) const PID: u32 = 7;
pub(crate) const CONTEXT: u64 = 0x5500;

/// A mixture-of-experts model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Routed {
    pub(crate) layers: u32,
    pub(crate) n_expert: u32,
    pub(crate) n_used: u32,
    /// Bytes of one expert in each of the three `MUL_MAT_ID`s of a layer.
    pub(crate) expert_bytes: [u64; 3],
}

/// Selections of each layer's router in one call: `[layer][token][rank]`.
pub(crate) type Chosen = Vec<Vec<Vec<u32>>>;

/// The readers of a layer's selection.
pub(crate) const READERS: [&str; 3] = ["ffn_moe_gate", "ffn_moe_up", "ffn_moe_down"];
/// Nodes of a layer: the selection, its readers, and an unrelated product.
pub(crate) const NODES: u32 = 5;

/// The session before its first call.
pub(crate) fn session() -> Model {
    let mut m = Model::default();
    m.session.levels = vec![Level::Token, Level::Graph, Level::Expert];
    let main = m.threads.find_or_add(100);
    let name = m.texts.intern("engine");
    m.threads.describe(main, PID, name);
    m.health.bytes = 500;
    m.health.ledger = Some(Ledger::default());
    m.health.end = Some(End {
        reason: EndReason::EngineEnded,
        frames: 9,
        bpf_run_ns: 0,
        bpf_runs: 0,
        agent_cpu_ns: 5,
        agent_rss_bytes: 4_096,
    });
    m
}

fn topology(texts: &mut Texts, spec: &Routed, n_tokens: u64) -> Topology {
    let n_nodes = spec.layers * NODES;
    let mut nodes = Vec::new();
    let mut leafs = Vec::new();
    let (n_expert, n_used) = (u64::from(spec.n_expert), u64::from(spec.n_used));
    for layer in 0..spec.layers {
        let mut tensor = |name: String, op: &str, dtype: &str, role, ne, bytes, src| Node {
            role,
            ne,
            bytes,
            src,
            ..rows::tensor(texts, &name, op, dtype)
        };
        let ids = NodeIdx(nodes.len() as u32);
        nodes.push(tensor(
            format!("ffn_moe_topk-{layer}"),
            "VIEW",
            "i32",
            Role::Node,
            [n_used, n_tokens, 1, 1],
            n_used * n_tokens * 4,
            vec![],
        ));
        for (name, bytes) in READERS.iter().zip(spec.expert_bytes) {
            let weights = NodeIdx(n_nodes + leafs.len() as u32);
            let name_of = format!("blk.{layer}.{}_exps.weight", name.replace("_moe", ""));
            let ne = [16, 8, n_expert, 1];
            leafs.push(tensor(name_of, "NONE", "q4_K", Role::Weight, ne, bytes * n_expert, vec![]));
            let src = vec![(0, weights), (1, ids), (2, ids)];
            let ne = [8, n_used, n_tokens, 1];
            nodes.push(tensor(format!("{name}-{layer}"), "MUL_MAT_ID", "f32", Role::Node, ne, 64, src));
        }
        let src = vec![(0, ids), (1, ids)];
        nodes.push(tensor(
            format!("ffn_out-{layer}"),
            "MUL_MAT",
            "f32",
            Role::Node,
            [8, n_tokens, 1, 1],
            64,
            src,
        ));
    }
    nodes.append(&mut leafs);
    Topology { pid: PID, n_nodes, nodes, complete: true }
}

/// Adds a complete call of `context` with these selections.
pub(crate) fn call(m: &mut Model, spec: &Routed, context: u64, chosen: &Chosen) {
    let n_tokens = chosen[0].len();
    let made = topology(&mut m.texts, spec, n_tokens as u64);
    let topology = m.topologies.rows.iter().position(|s| *s == made).unwrap_or_else(|| {
        m.topologies.rows.push(made);
        m.topologies.rows.len() - 1
    });
    let start = 1_000 * (m.llama_calls.len() as u64 + 1);
    let decode = LlamaCallId(m.llama_calls.len() as u32);
    m.llama_calls.start_ns.push(start);
    m.llama_calls.duration_ns.push(900);
    m.llama_calls.function.push(DecodeFunction::LlamaDecode);
    m.llama_calls.thread.push(ThreadId(0));
    m.llama_calls.context.push(context);
    m.llama_calls.n_tokens.push(n_tokens as u32);
    m.llama_calls.status.push(0);
    let g = &mut m.graph_calls;
    let call = GraphCallId(g.len() as u32);
    g.start_ns.push(start + 10);
    g.duration_ns.push(800);
    g.layer.push(Layer::Backend);
    g.backend.push(m.texts.intern("CPU"));
    g.topology.push(Some(TopologyId(topology as u32)));
    g.n_nodes.push(spec.layers * NODES);
    g.n_tokens.push(n_tokens as u32);
    g.n_past.push(None);
    g.thread.push(ThreadId(0));
    g.decode.push(Some(decode));
    g.parent.push(None);
    let e = &mut m.experts;
    for (layer, tokens) in (0..).zip(chosen) {
        for (token, experts) in (0..).zip(tokens) {
            for (rank, expert) in (0..).zip(experts) {
                e.graph_call.push(call);
                e.node.push(NodeIdx(layer * NODES + 1));
                e.token.push(token);
                e.rank.push(rank);
                e.expert.push(*expert);
            }
        }
    }
    told(m);
}

/// The agent's totals, without losses.
fn told(m: &mut Model) {
    let n = m.experts.len() as u64;
    m.health.experts = Some(ExpertLedger { chosen: n, sent: n, received: n, ..ExpertLedger::default() });
}

/// Loses the selection of a layer in a call from position `from` on, as when the kernel's ring
/// buffer was full.
pub(crate) fn lose(m: &mut Model, call: u32, layer: u32, from: usize) {
    let e = &mut m.experts;
    let of = |i: usize| e.graph_call[i].0 == call && e.node[i].0 == layer * NODES + 1;
    let lost: Vec<usize> = (0..e.len()).filter(|i| of(*i)).skip(from).collect();
    for i in lost.iter().rev() {
        e.graph_call.remove(*i);
        e.node.remove(*i);
        e.token.remove(*i);
        e.rank.remove(*i);
        e.expert.remove(*i);
    }
    e.missing += lost.len() as u64;
    if let Some(l) = &mut m.health.experts {
        let n = lost.len() as u64;
        (l.ring_full, l.sent, l.received) = (l.ring_full + n, l.sent - n, l.received - n);
    }
}

/// The hand-made session: a prompt of three tokens, and four tokens after it, in two layers of four
/// experts.
pub(crate) const SMALL: Routed = Routed { layers: 2, n_expert: 4, n_used: 2, expert_bytes: [100, 20, 3] };

pub(crate) fn small() -> Model {
    let mut m = session();
    let calls: [Chosen; 5] = [
        vec![vec![vec![0, 1], vec![1, 0], vec![0, 2]], vec![vec![3, 2], vec![3, 2], vec![3, 2]]],
        vec![vec![vec![0, 1]], vec![vec![2, 3]]],
        vec![vec![vec![1, 2]], vec![vec![3, 2]]],
        vec![vec![vec![0, 2]], vec![vec![2, 3]]],
        vec![vec![vec![1, 0]], vec![vec![0, 3]]],
    ];
    calls.iter().for_each(|c| call(&mut m, &SMALL, CONTEXT, c));
    m
}

/// More layers and experts than any engine of today has, a prompt longer than most; the figures are
/// wide.
pub(crate) fn large() -> Model {
    let spec = Routed { layers: 99, n_expert: 512, n_used: 10, expert_bytes: [3 << 20, 3 << 20, 4 << 20] };
    let mut m = session();
    let token = |layer: u32, t: u32| (0..spec.n_used).map(|r| (layer * 7 + t * 13 + r * r) % 512).collect();
    for calls in [(0, 40), (40, 41), (41, 42), (700, 701)] {
        let layers = (0..spec.layers).map(|l| (calls.0..calls.1).map(|t| token(l, t)).collect()).collect();
        call(&mut m, &spec, CONTEXT, &layers);
    }
    m
}
