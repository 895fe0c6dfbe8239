//! A session of three `llama_decode` calls, two threads and one layer. All figures in the tests are
//! computed by hand from the numbers here.

use profinfer_trace::model::*;

use super::rows::{sources, tensor};

pub(crate) const PID: u32 = 7;
pub(crate) const CONTEXT: u64 = 0x5500;
pub(crate) const START: u64 = 1_000;

/// Nodes: a product, a view of it, a norm with the following product in one kernel, and a second
/// norm of the same name. Leafs: two weights and an input.
pub(crate) fn topology(texts: &mut Texts, n_tokens: u64, pid: u32) -> Topology {
    let mut node = |name: &str, op: &str, role, ne: [u64; 4], src: &[u32]| Node {
        role,
        ne,
        bytes: ne.iter().product::<u64>() * 4,
        view_of: (op == "RESHAPE").then_some(NodeIdx(0)),
        src: sources(src),
        ..tensor(texts, name, op, if role == Role::Weight { "q8_0" } else { "f32" })
    };
    let n = n_tokens;
    let nodes = vec![
        node("Qcur-0", "MUL_MAT", Role::Node, [64, n, 1, 1], &[5, 6]),
        node("Qcur-0", "RESHAPE", Role::Node, [8, 8, n, 1], &[0]),
        node("norm-0", "RMS_NORM", Role::Node, [64, n, 1, 1], &[1]),
        node("attn_norm-0", "MUL", Role::Node, [64, n, 1, 1], &[2, 7]),
        node("norm-0", "RMS_NORM", Role::Node, [64, n, 1, 1], &[3]),
        node("wq", "NONE", Role::Weight, [64, 64, 1, 1], &[]),
        node("inp", "NONE", Role::Input, [64, n, 1, 1], &[]),
        node("wn", "NONE", Role::Weight, [64, 1, 1, 1], &[]),
    ];
    Topology { pid, n_nodes: 5, nodes, complete: true }
}

/// One span: thread, node, last node, start, work, wait.
pub(crate) type Row = (u32, u32, u32, u64, u64, u32);

/// Adds a `llama_decode` call with a scheduler graph, and in it a backend graph with these spans.
pub(crate) fn call(
    m: &mut Model,
    start: u64,
    lengths: [u64; 3],
    n_tokens: u32,
    topology: u32,
    spans: &[Row],
) {
    let decode = LlamaCallId(m.llama_calls.len() as u32);
    let n_past: u32 = m.llama_calls.n_tokens.iter().sum();
    m.llama_calls.start_ns.push(start);
    m.llama_calls.duration_ns.push(lengths[0]);
    m.llama_calls.function.push(DecodeFunction::LlamaDecode);
    m.llama_calls.thread.push(ThreadId(0));
    m.llama_calls.context.push(CONTEXT);
    m.llama_calls.n_tokens.push(n_tokens);
    m.llama_calls.status.push(0);
    let cpu = m.texts.intern("CPU");
    let g = &mut m.graph_calls;
    let scheduler = GraphCallId(g.len() as u32);
    for (layer, backend, topology, parent, start, length) in [
        (Layer::Scheduler, Text::default(), None, None, start + 10, lengths[1]),
        (Layer::Backend, cpu, Some(TopologyId(topology)), Some(scheduler), start + 20, lengths[2]),
    ] {
        g.start_ns.push(start);
        g.duration_ns.push(length);
        g.layer.push(layer);
        g.backend.push(backend);
        g.topology.push(topology);
        g.n_nodes.push(5);
        g.n_tokens.push(n_tokens);
        g.n_past.push((layer == Layer::Backend).then_some(n_past));
        g.thread.push(ThreadId(0));
        g.decode.push(Some(decode));
        g.parent.push(parent);
    }
    for &(thread, node, last_node, start, work, wait) in spans {
        let s = &mut m.spans;
        s.graph_call.push(GraphCallId(scheduler.0 + 1));
        s.thread.push(ThreadId(thread));
        s.node.push(NodeIdx(node));
        s.last_node.push(NodeIdx(last_node));
        s.start_ns.push(start);
        s.work_ns.push(work);
        s.wait_ns.push(wait);
        s.cpu.push(Some(thread as u16));
        s.migrated.push(thread == 1 && node == 4);
    }
}

/// The session. Nothing is lost.
pub(crate) fn model() -> Model {
    let mut m = Model::default();
    m.session.start_ns = START;
    m.session.levels = vec![Level::Token, Level::Graph, Level::Op];
    let main = m.threads.find_or_add(100);
    let worker = m.threads.find_or_add(101);
    let name = m.texts.intern("engine");
    m.threads.describe(main, PID, name);
    m.threads.describe(worker, PID, name);
    for n_tokens in [3, 1] {
        let topology = topology(&mut m.texts, n_tokens, PID);
        m.topologies.rows.push(topology);
    }
    // The prompt: 3 tokens, 2000 to 3000.
    call(
        &mut m,
        2_000,
        [1_000, 900, 800],
        3,
        0,
        &[
            (0, 0, 0, 2_100, 300, 100),
            (0, 2, 3, 2_500, 50, 0),
            (0, 4, 4, 2_560, 40, 0),
            (1, 0, 0, 2_110, 380, 10),
            (1, 2, 3, 2_502, 58, 0),
            (1, 4, 4, 2_561, 49, WAIT_UNKNOWN),
        ],
    );
    // Two tokens, 3100 to 3500 and 3600 to 4020.
    call(
        &mut m,
        3_100,
        [400, 300, 250],
        1,
        1,
        &[
            (0, 0, 0, 3_130, 100, 10),
            (0, 2, 3, 3_240, 20, 2),
            (0, 4, 4, 3_262, 18, 5),
            (1, 0, 0, 3_131, 104, 6),
            (1, 2, 3, 3_241, 19, 1),
            (1, 4, 4, 3_261, 17, 7),
        ],
    );
    call(
        &mut m,
        3_600,
        [420, 310, 260],
        1,
        1,
        &[
            (0, 0, 0, 3_630, 120, 20),
            (0, 2, 3, 3_770, 30, 3),
            (0, 4, 4, 3_803, 15, 9),
            (1, 0, 0, 3_632, 128, 12),
            (1, 2, 3, 3_772, 26, 4),
            (1, 4, 4, 3_802, 19, 1),
        ],
    );
    m.health = Health {
        bytes: 1_000,
        cut_bytes: 0,
        frames: 20,
        spans_received: 18,
        span_bytes: 108,
        experts: None,
        parts_received: 0,
        parts: None,
        capture: None,
        reasons: None,
        ledger: Some(Ledger {
            at_ns: 5_000,
            span_starts: 18,
            span_ends: 18,
            spans_sent: 18,
            ..Default::default()
        }),
        damage: Vec::new(),
        skipped: Vec::new(),
        piece: None,
        end: Some(End {
            reason: EndReason::EngineEnded,
            frames: 20,
            bpf_run_ns: 0,
            bpf_runs: 0,
            agent_cpu_ns: 500,
            agent_rss_bytes: 4_096,
        }),
        probe_cost: None,
        operator_probes: Vec::new(),
        direct: None,
        refused: None,
        nested_received: 0,
        nested: None,
        sched_received: 0,
        sched: None,
        cpu_use_received: 0,
        cpu_use: None,
    };
    m
}
