//! A model of any size, for the bench and for tests with many slices: some threads, layers of a dense
//! model, one prefill call and then decode calls. A small generator makes the same times every run.

use profinfer_trace::model::{
    DecodeFunction, End, EndReason, GraphCallId, Layer, Ledger, LlamaCallId, Model, Node, NodeIdx, Process,
    Role, Text, Topology, TopologyId, WAIT_UNKNOWN,
};
use profinfer_trace::test_support::random::Random;

/// Operators of a layer; the third is fused with the one before it.
const LAYER: [(&str, &str, &str); 12] = [
    ("norm", "RMS_NORM", "RMS_NORM"),
    ("attn_norm", "MUL", "MUL"),
    ("Qcur", "MUL_MAT", "MUL_MAT"),
    ("Kcur", "MUL_MAT", "MUL_MAT"),
    ("Vcur", "MUL_MAT", "MUL_MAT"),
    ("Qcur_rope", "ROPE", "ROPE"),
    ("kq", "MUL_MAT", "MUL_MAT"),
    ("kq_soft_max", "SOFT_MAX", "SOFT_MAX"),
    ("kqv_out", "MUL_MAT", "MUL_MAT"),
    ("ffn_gate", "MUL_MAT", "MUL_MAT"),
    ("ffn_swiglu", "GLU", "SWIGLU"),
    ("ffn_out", "MUL_MAT", "MUL_MAT"),
];

/// A model with about `spans` spans.
pub(crate) fn model(spans: usize, threads: u32, layers: u32) -> Model {
    let mut model = Model::default();
    let pid = 4000;
    let start_ns = 86_400_000_000_123;
    model.session.start_ns = start_ns;
    model.session.start_unix_ns = 1_770_000_000_000_000_000;
    model.session.processes = vec![Process {
        pid,
        name: "llama-bench".into(),
        command: "llama-bench -t 2".into(),
        engine_version: String::new(),
    }];
    let name = model.texts.intern("llama-bench");
    let ids: Vec<_> = (0..threads)
        .map(|t| {
            let id = model.threads.find_or_add(pid + t);
            model.threads.describe(id, pid, name);
            id
        })
        .collect();
    for n_tokens in [512, 1] {
        let topology = topology(&mut model, pid, layers, n_tokens);
        model.topologies.rows.push(topology);
    }
    let cpu = model.texts.intern("CPU");

    let per_call = LAYER.len() * layers as usize * threads as usize;
    let mut random = Random(1);
    let mut now = start_ns + 1_000_000;
    for call in 0..(spans / per_call).max(1) {
        let topology = TopologyId(u32::from(call > 0));
        let decode_start = now;
        let n_nodes = (LAYER.len() * layers as usize) as u32;
        now += 40_000 + random.below(5_000);
        let starts = [now, now + 3_000];
        now += 8_000;
        let backend_call = GraphCallId(2 * call as u32 + 1);
        // An operator ends for all threads at once; within it, each thread starts and ends its work at any time.
        let mut ends = Vec::new();
        for _ in 0..n_nodes {
            let length = 600 + random.below(40_000) * if call == 0 { 40 } else { 1 };
            ends.push((now, now + length));
            now += length;
        }
        for id in &ids {
            for (i, (from, to)) in ends.iter().enumerate() {
                let begin = from + random.below(200);
                let work = 100 + random.below(to - begin - 150);
                // The norm is computed together with the multiplication after it.
                if i % LAYER.len() == 1 {
                    continue;
                }
                let next = if i % LAYER.len() == 0 { ends.get(i + 1).map_or(*to, |e| e.1) } else { *to };
                let wait = u32::try_from(next - begin - work).unwrap_or(WAIT_UNKNOWN);
                let s = &mut model.spans;
                s.graph_call.push(backend_call);
                s.thread.push(*id);
                s.node.push(NodeIdx(i as u32));
                s.last_node.push(NodeIdx(if i % LAYER.len() == 0 { i as u32 + 1 } else { i as u32 }));
                s.start_ns.push(begin);
                s.work_ns.push(work);
                s.wait_ns.push(wait);
                s.cpu.push(Some(id.0 as u16));
                s.migrated.push(random.below(500) == 0);
            }
        }
        for (n, layer) in [Layer::Scheduler, Layer::Backend].into_iter().enumerate() {
            let g = &mut model.graph_calls;
            g.start_ns.push(starts[n]);
            g.duration_ns.push(now + 4_000 - 1_000 * n as u64 - starts[n]);
            g.layer.push(layer);
            g.backend.push(if n == 0 { Text::default() } else { cpu });
            g.topology.push((n == 1).then_some(topology));
            g.n_nodes.push(n_nodes);
            g.n_tokens.push(if call == 0 { 512 } else { 1 });
            g.n_past.push(None);
            g.thread.push(ids[0]);
            g.decode.push(Some(LlamaCallId(call as u32)));
            g.parent.push((n == 1).then_some(GraphCallId(2 * call as u32)));
        }
        now += 20_000;
        let d = &mut model.llama_calls;
        d.start_ns.push(decode_start);
        d.duration_ns.push(now - decode_start);
        d.function.push(DecodeFunction::LlamaDecode);
        d.thread.push(ids[0]);
        d.context.push(0x5555_0000_1000);
        d.n_tokens.push(if call == 0 { 512 } else { 1 });
        d.status.push(0);
        now += 60_000;
    }
    let n = model.spans.len() as u64;
    model.health.spans_received = n;
    model.health.ledger = Some(Ledger { span_starts: n, span_ends: n, spans_sent: n, ..Ledger::default() });
    model.health.end = Some(End {
        reason: EndReason::EngineEnded,
        frames: 0,
        bpf_run_ns: 0,
        bpf_runs: 0,
        agent_cpu_ns: 0,
        agent_rss_bytes: 0,
    });
    model
}

fn topology(model: &mut Model, pid: u32, layers: u32, n_tokens: u64) -> Topology {
    let dtype = model.texts.intern("f32");
    let mut nodes: Vec<Node> = Vec::new();
    for layer in 0..layers {
        for (name, op, desc) in LAYER {
            let before = nodes.len().checked_sub(1).map(|i| (0, NodeIdx(i as u32)));
            nodes.push(Node {
                name: model.texts.intern(&format!("{name}-{layer}")),
                op: model.texts.intern(op),
                desc: model.texts.intern(desc),
                dtype,
                role: Role::Node,
                ne: [576, n_tokens, 1, 1],
                bytes: 576 * 4 * n_tokens,
                address: 0x7000_0000 + 368 * nodes.len() as u64,
                data: 0,
                buffer: None,
                view_of: None,
                src: before.into_iter().collect(),
            });
        }
    }
    let n_nodes = nodes.len();
    for i in 0..n_nodes {
        if nodes[i].op == model.texts.intern("MUL_MAT") {
            let weight = NodeIdx(nodes.len() as u32);
            nodes[i].src.insert(0, (0, weight));
            nodes.push(Node {
                name: model.texts.intern(&format!(
                    "blk.{}.{}.weight",
                    i / LAYER.len(),
                    LAYER[i % LAYER.len()].0
                )),
                op: model.texts.intern("NONE"),
                desc: model.texts.intern("NONE"),
                dtype: model.texts.intern("q8_0"),
                role: Role::Weight,
                ne: [576, 576, 1, 1],
                bytes: 576 * 576 * 34 / 32,
                address: 0x9000_0000 + 368 * i as u64,
                data: 0,
                buffer: None,
                view_of: None,
                src: Vec::new(),
            });
        }
    }
    Topology { pid, n_nodes: n_nodes as u32, nodes, complete: true }
}
