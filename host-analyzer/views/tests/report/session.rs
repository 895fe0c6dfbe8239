//! A session for the page: a real graph, with times chosen by the test.

use profinfer_trace::model::{
    DecodeFunction, End, EndReason, ExpertLedger, Gauge, GaugeKind, GaugeUnit, GraphCallId, Layer, Ledger,
    Level, LlamaCallId, Model, Node, NodeIdx, Probe, Process, Role, Text, ThreadId, Topology, TopologyId,
};

/// Listed by llama.cpp itself through ci/drivers/nodes.cpp: call 0 is a prefill, call 1 a decode.
const LISTING: &str = include_str!("../../page/fixtures/dense.tsv");

/// An operator that does not run; the engine's `ggml_op_is_empty`.
const NEVER_RUN: [&str; 5] = ["NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"];

/// Length of a prefill call, a decode call, and the pause between calls, ns.
pub(crate) const PREFILL_NS: u64 = 40_000_000;
pub(crate) const DECODE_NS: u64 = 12_000_000;
pub(crate) const PAUSE_NS: u64 = 500_000;
pub(crate) const DECODES: u64 = 9;

fn leaf_role(name: &str) -> Role {
    if name.ends_with(".weight") {
        Role::Weight
    } else if name.starts_with("cache_") {
        Role::Cache
    } else {
        Role::Input
    }
}

fn dimensions(text: &str) -> [u64; 4] {
    let mut ne = [1; 4];
    ne.iter_mut().zip(text.split(',')).for_each(|(d, t)| *d = t.parse().unwrap_or(0));
    ne
}

/// One call of the listing as a topology; a source is the latest tensor of its name.
fn topology(m: &mut Model, call: &str) -> Topology {
    let rows: Vec<Vec<&str>> = LISTING
        .lines()
        .map(|l| l.split('\t').collect::<Vec<_>>())
        .filter(|r| r[0] == "node" && r[1] == call)
        .collect();
    let n_nodes = rows.len();
    let mut names: Vec<String> = rows.iter().map(|r| r[4].trim().to_owned()).collect();
    let mut nodes: Vec<Node> = Vec::new();
    let mut leafs: Vec<Node> = Vec::new();
    let node = |m: &mut Model, op: &str, name: &str, dtype: &str, ne: &str, role, src| {
        let (op, name, dtype) = (m.texts.intern(op), m.texts.intern(name), m.texts.intern(dtype));
        let ne = dimensions(ne);
        let bytes = ne.iter().product::<u64>() * 4;
        Node {
            name,
            op,
            desc: op,
            dtype,
            role,
            ne,
            bytes,
            address: 0,
            data: 0,
            buffer: None,
            view_of: None,
            src,
        }
    };
    for (i, row) in rows.iter().enumerate() {
        let mut src = Vec::new();
        for (slot, source) in (0_u8..).zip(&row[7..]) {
            let (name, ne) = source.rsplit_once(':').expect("NAME:NE");
            let known = names[..i].iter().rposition(|n| n == name.trim());
            let at =
                known.or_else(|| names[n_nodes..].iter().position(|n| n == name.trim()).map(|p| p + n_nodes));
            let at = at.unwrap_or_else(|| {
                leafs.push(node(m, "NONE", name.trim(), "f32", ne, leaf_role(name.trim()), vec![]));
                names.push(name.trim().to_owned());
                names.len() - 1
            });
            src.push((slot, NodeIdx(u32::try_from(at).expect("small"))));
        }
        nodes.push(node(m, row[3], row[4].trim(), row[5], row[6], Role::Node, src));
    }
    nodes.extend(leafs);
    Topology { pid: 4711, n_nodes: u32::try_from(n_nodes).expect("small"), nodes, complete: true }
}

/// Two threads run every node of a call, one after the other; all times differ from node to node.
fn spans(m: &mut Model, call: GraphCallId, topology: TopologyId, start: u64, threads: [ThreadId; 2]) {
    let nodes = m.topologies.get(topology).nodes[..m.topologies.get(topology).n_nodes as usize].to_vec();
    for (t, thread) in (0_u64..).zip(threads) {
        let mut at = start + 10_000;
        for (i, node) in (0_u32..).zip(&nodes) {
            if NEVER_RUN.contains(&m.texts.get(node.op)) {
                continue;
            }
            // The second thread is 200 ns quicker and waits for the first.
            let (work, wait) = (1_000 + u64::from(i) * 37 - t * 200, 50 + t * 200);
            m.spans.graph_call.push(call);
            m.spans.thread.push(thread);
            m.spans.node.push(NodeIdx(i));
            m.spans.last_node.push(NodeIdx(i));
            m.spans.start_ns.push(at);
            m.spans.work_ns.push(work);
            m.spans.wait_ns.push(u32::try_from(wait).expect("small"));
            m.spans.cpu.push(Some(u16::try_from(t).expect("small")));
            m.spans.migrated.push(false);
            at += work + wait;
        }
    }
}

fn call(m: &mut Model, start: u64, length: u64, n_tokens: u32, topology: TopologyId, threads: [ThreadId; 2]) {
    let decode = LlamaCallId(u32::try_from(m.llama_calls.len()).expect("small"));
    let graph = GraphCallId(u32::try_from(m.graph_calls.len()).expect("small"));
    m.llama_calls.start_ns.push(start);
    m.llama_calls.duration_ns.push(length);
    m.llama_calls.function.push(DecodeFunction::LlamaDecode);
    m.llama_calls.thread.push(threads[0]);
    m.llama_calls.context.push(0x5581_0000);
    m.llama_calls.n_tokens.push(n_tokens);
    m.llama_calls.status.push(0);
    let n_past: u32 = m.llama_calls.n_tokens[..decode.0 as usize].iter().sum();
    let cpu = m.texts.intern("CPU");
    for (layer, backend, inset, parent) in
        [(Layer::Scheduler, Text::default(), 2_000, None), (Layer::Backend, cpu, 4_000, Some(graph))]
    {
        m.graph_calls.start_ns.push(start + inset);
        m.graph_calls.duration_ns.push(length - 2 * inset);
        m.graph_calls.layer.push(layer);
        m.graph_calls.backend.push(backend);
        // The topology is read where a backend computes it.
        m.graph_calls.topology.push(parent.map(|_| topology));
        m.graph_calls.n_nodes.push(m.topologies.get(topology).n_nodes);
        m.graph_calls.n_tokens.push(n_tokens);
        m.graph_calls.n_past.push(parent.map(|_| n_past));
        m.graph_calls.thread.push(threads[0]);
        m.graph_calls.decode.push(Some(decode));
        m.graph_calls.parent.push(parent);
    }
    spans(m, GraphCallId(graph.0 + 1), topology, start + 4_000, threads);
}

/// A prompt of four tokens and nine generated ones, nothing lost.
pub(crate) fn perfect() -> Model {
    with_decodes(DECODES)
}

/// The same with any number of generated tokens.
pub(crate) fn with_decodes(llama_calls: u64) -> Model {
    let mut m = Model::default();
    let main = m.threads.find_or_add(4711);
    let worker = m.threads.find_or_add(4712);
    let name = m.texts.intern("llama-cli");
    m.threads.describe(main, 4711, name);
    m.threads.describe(worker, 4711, name);
    for listed in ["0", "1"] {
        let topology = topology(&mut m, listed);
        m.topologies.rows.push(topology);
    }
    m.session.start_ns = 1_000_000_000;
    m.session.start_unix_ns = 1_763_700_000_000_000_000;
    m.session.board = "host".into();
    m.session.levels = vec![Level::Token, Level::Graph, Level::Op];
    m.session.processes = vec![Process {
        pid: 4711,
        name: "llama-cli".into(),
        command: "llama-cli -m dense.gguf -p hello".into(),
        engine_version: "b11669".into(),
    }];
    m.session.probes = vec![Probe {
        pid: 4711,
        level: Some(Level::Token),
        what: "decode entry".into(),
        symbol: "llama_decode".into(),
        library: "/usr/lib/libllama.so".into(),
        offset: 4096,
        attached: true,
        note: "symbol".into(),
    }];
    let mut start = m.session.start_ns + 3_000_000;
    call(&mut m, start, PREFILL_NS, 4, TopologyId(0), [main, worker]);
    start += PREFILL_NS + PAUSE_NS;
    for _ in 0..llama_calls {
        call(&mut m, start, DECODE_NS, 1, TopologyId(1), [main, worker]);
        start += DECODE_NS + PAUSE_NS;
    }
    let n = m.spans.len() as u64;
    m.health.spans_received = n;
    m.health.bytes = n * 7;
    m.health.frames = 20;
    m.health.ledger =
        Some(Ledger { at_ns: start, span_starts: n, span_ends: n, spans_sent: n, ..Ledger::default() });
    m.health.end = Some(End {
        reason: EndReason::EngineEnded,
        frames: 20,
        bpf_run_ns: 0,
        bpf_runs: 0,
        agent_cpu_ns: 31_000_000,
        agent_rss_bytes: 9 << 20,
    });
    m
}

/// The same with losses, invalid edges, and names that try to become part of the page.
pub(crate) fn hostile(text: &str) -> Model {
    let mut m = routed();
    let evil = m.texts.intern(text);
    for topology in &mut m.topologies.rows {
        let n = topology.n_nodes as usize;
        // A router's layer is derived from these two, or from the name.
        for name in ["ffn_gate-1", "blk.1.ffn_gate.weight"] {
            let name = m.texts.find(name);
            topology.nodes.iter_mut().filter(|n| Some(n.name) == name).for_each(|n| n.name = evil);
        }
        topology.nodes[4].name = evil;
        topology.nodes[n].name = evil;
        // No engine builds these: a source after its reader, a node that reads itself, a leaf that reads.
        topology.nodes[10].src.extend([(5, NodeIdx(20)), (6, NodeIdx(10))]);
        topology.nodes[n].src.extend([(0, NodeIdx(3)), (1, NodeIdx(topology.n_nodes + 1))]);
    }
    let worker = m.threads.find_or_add(4712);
    m.threads.describe(worker, 4711, evil);
    let process = &mut m.session.processes[0];
    text.clone_into(&mut process.name);
    text.clone_into(&mut process.command);
    text.clone_into(&mut process.engine_version);
    text.clone_into(&mut m.session.board);
    for name in [text, "temperature"] {
        m.gauges.push(Gauge {
            name: name.to_owned(),
            kind: GaugeKind::Temperature,
            unit: GaugeUnit::Millidegrees,
            source: text.to_owned(),
            period_ns: 100_000_000,
            attached: true,
            note: text.to_owned(),
            at_ns: vec![m.session.start_ns, m.session.start_ns + 50_000_000],
            values: vec![Some(46_230), Some(48_000)],
        });
    }
    text.clone_into(&mut m.session.probes[0].note);
    m.session.probes[0].attached = false;
    m.health.end = None;
    if let Some(ledger) = &mut m.health.ledger {
        ledger.span_ends += 77;
        ledger.spans_ring_full = 77;
    }
    m
}

/// Experts per layer of the routed session, and the number that a token uses.
pub(crate) const EXPERTS: u32 = 8;
const USED: u32 = 2;
/// Bytes of one expert.
pub(crate) const EXPERT_BYTES: u64 = 1 << 20;

/// The same with a router before the `ffn_gate` of both layers: for token t of layer l (counted from the prompt's first) it
/// selects expert 7, and one of the first five in turn.
pub(crate) fn routed() -> Model {
    let mut m = perfect();
    let (op, index) = (m.texts.intern("MUL_MAT_ID"), m.texts.intern("i32"));
    let mut readers: Vec<Vec<u32>> = Vec::new();
    for (at, n_tokens) in [(0, 4), (1, 1)] {
        let gate = |m: &Model, layer: u32| {
            let name = m.texts.find(&format!("ffn_gate-{layer}")).expect("in the listing");
            m.topologies.rows[at]
                .nodes
                .iter()
                .position(|n| n.name == name && !n.src.is_empty())
                .expect("a node")
        };
        readers.push((0..2).map(|l| u32::try_from(gate(&m, l)).expect("small")).collect());
        for layer in 0..2 {
            let gate = gate(&m, layer);
            let nodes = &mut m.topologies.rows[at].nodes;
            let weights = nodes[gate].src[0].1.0 as usize;
            nodes[weights].ne = [16, 16, EXPERTS.into(), 1];
            nodes[weights].bytes = EXPERT_BYTES * u64::from(EXPERTS);
            // What the gate reads becomes the ids as well.
            let ids = nodes[gate].src[1].1;
            nodes[ids.0 as usize].dtype = index;
            nodes[ids.0 as usize].ne = [USED.into(), n_tokens, 1, 1];
            nodes[gate].op = op;
            nodes[gate].src.push((2, ids));
        }
    }
    for (call, decode) in (0..).zip(m.graph_calls.decode.clone()).filter(|(call, _)| call % 2 == 1) {
        let prompt = decode == Some(LlamaCallId(0));
        for (layer, node) in (0..).zip(&readers[usize::from(!prompt)]) {
            for token in 0..if prompt { 4 } else { 1 } {
                let turn = decode.map_or(0, |d| d.0) + token + layer;
                for (rank, expert) in [(0, 7), (1, turn % 5)] {
                    m.experts.graph_call.push(GraphCallId(call));
                    m.experts.node.push(NodeIdx(*node));
                    m.experts.token.push(token);
                    m.experts.rank.push(rank);
                    m.experts.expert.push(expert);
                }
            }
        }
    }
    let n = m.experts.len() as u64;
    m.health.experts = Some(ExpertLedger { chosen: n, sent: n, received: n, ..ExpertLedger::default() });
    m
}
