//! A small hand-made model with everything that a timeline can show, and the expected slices.

use profinfer_trace::model::{
    DecodeFunction, Gauge, GaugeKind, GaugeUnit, GraphCallId, Layer, LlamaCallId, Model, Node, NodeIdx,
    Process, Role, Text, ThreadId, Topology, TopologyId, WAIT_UNKNOWN,
};
use serde_json::{Value, json};

/// Start of the session; 64-bit floats in microseconds cannot represent its nanoseconds.
pub(crate) const T0: u64 = 9_007_199_254_740_993_000;

const NORM: &str = "n\"or\\m\n\u{1}";
const NO_WAIT_SEEN: u32 = WAIT_UNKNOWN;

/// Two calling threads with a context each, in two processes with and without a name; a worker; a
/// process that the stream does not describe. Fused operators, missing waits, a migration, a lost
/// tensor, a failed call, and names with quotes, control and other characters.
pub(crate) fn model() -> Model {
    let mut m = Model::default();
    m.session.start_ns = T0;
    m.session.start_unix_ns = 1_770_000_000_000_000_001;
    m.session.machine = "x86_64".into();
    m.session.processes = vec![Process {
        pid: 100,
        name: "lla\"ma".into(),
        command: "lla\"ma -m é.gguf".into(),
        engine_version: String::new(),
    }];
    for (tid, pid, name) in
        [(100, 100, "main\té"), (101, 100, ""), (200, 100, "b"), (300, 300, "w"), (400, 0, "")]
    {
        let name = m.texts.intern(name);
        let id = m.threads.find_or_add(tid);
        m.threads.describe(id, pid, name);
    }
    let decode = DecodeFunction::LlamaDecode;
    push_decode(&mut m, 1000, 900, 0, 0xa, (8, decode, 0));
    push_decode(&mut m, 1500, 300, 2, 0xb, (1, decode, 0));
    push_decode(&mut m, 2000, 500, 0, 0xa, (1, decode, 0));
    push_decode(&mut m, 2600, 100, 0, 0xa, (0, DecodeFunction::LlamaEncode, -1));

    let topology = topology(
        &mut m,
        100,
        &[(NORM, "RMS_NORM", "RMS_NORM"), ("mul→é", "MUL", "MUL"), ("act", "UNARY", "SILU"), ("", "", "")],
    );
    m.topologies.rows.push(topology);
    let topology = self::topology(&mut m, 300, &[("", "MUL_MAT", "MUL_MAT")]);
    m.topologies.rows.push(topology);
    let cpu = m.texts.intern("CPU");
    let none = Text::default();
    let (whole, part) = (Layer::Scheduler, Layer::Backend);
    push_graph(&mut m, 1100, 700, 0, (whole, none, None, 4), Some(0));
    push_graph(&mut m, 1100, 650, 0, (part, cpu, Some(0), 4), Some(0));
    push_graph(&mut m, 1550, 200, 2, (part, cpu, Some(1), 1), Some(1));
    push_graph(&mut m, 2100, 300, 0, (part, none, Some(0), 4), Some(2));
    push_graph(&mut m, 3000, 100, 3, (part, cpu, Some(1), 1), None);

    // graph call, thread, node, last node, start, work, wait, CPU, migrated
    for (graph, thread, node, last, start, work, wait, cpu, migrated) in [
        (1, 0, 0, 1, 1160, 100, 40, Some(0), false),
        (1, 0, 2, 2, 1300, 200, 250, Some(3), true),
        (1, 1, 0, 1, 1165, 120, NO_WAIT_SEEN, Some(1), false),
        // Its CPU is unknown, and it has no argument.
        (1, 1, 3, 3, 1400, 0, 7, None, false),
        (2, 2, 0, 0, 1560, 190, 0, Some(65_534), false),
        (3, 0, 0, 0, 2110, 10, 20, Some(0), false),
        (3, 0, 0, 1, 2200, 5, NO_WAIT_SEEN, Some(0), false),
        (4, 3, 0, 0, 3000, 90, 10, None, false),
        (4, 4, 0, 0, 3010, 30, 5, Some(0), true),
    ] {
        let s = &mut m.spans;
        s.graph_call.push(GraphCallId(graph));
        s.thread.push(ThreadId(thread));
        s.node.push(NodeIdx(node));
        s.last_node.push(NodeIdx(last));
        s.start_ns.push(T0 + start);
        s.work_ns.push(work);
        s.wait_ns.push(wait);
        s.cpu.push(cpu);
        s.migrated.push(migrated);
    }
    m.gauges = gauges();
    m
}

/// A frequency, a temperature with a gap, memory traffic, and an absent gauge.
fn gauges() -> Vec<Gauge> {
    let gauge = |name: &str, kind, unit, rows: &[(u64, Option<i64>)]| Gauge {
        name: name.to_owned(),
        kind,
        unit,
        source: "/sys/node".to_owned(),
        period_ns: 1_000,
        attached: !rows.is_empty(),
        note: String::new(),
        at_ns: rows.iter().map(|r| T0 + r.0).collect(),
        values: rows.iter().map(|r| r.1).collect(),
    };
    vec![
        gauge(
            "fre\"quency",
            GaugeKind::Frequency,
            GaugeUnit::Hertz,
            &[(0, Some(1_800_000_000)), (1_001, Some(408_000_000))],
        ),
        gauge(
            "temperature",
            GaugeKind::Temperature,
            GaugeUnit::Millidegrees,
            &[(500, Some(-5_000)), (1_500, None), (2_500, Some(46_230))],
        ),
        gauge(
            "traffic",
            GaugeKind::Ddr,
            GaugeUnit::Bytes,
            &[(0, Some(0)), (1_500, Some(4_096)), (3_000, Some(7_000))],
        ),
        gauge("NPU load", GaugeKind::Load, GaugeUnit::Percent, &[]),
    ]
}

fn push_decode(
    m: &mut Model,
    start: u64,
    duration: u64,
    thread: u32,
    context: u64,
    (n_tokens, function, status): (u32, DecodeFunction, i32),
) {
    let d = &mut m.llama_calls;
    d.start_ns.push(T0 + start);
    d.duration_ns.push(duration);
    d.function.push(function);
    d.thread.push(ThreadId(thread));
    d.context.push(context);
    d.n_tokens.push(n_tokens);
    d.status.push(status);
}

fn push_graph(
    m: &mut Model,
    start: u64,
    duration: u64,
    thread: u32,
    (layer, backend, topology, n_nodes): (Layer, Text, Option<u32>, u32),
    decode: Option<u32>,
) {
    let g = &mut m.graph_calls;
    g.start_ns.push(T0 + start);
    g.duration_ns.push(duration);
    g.layer.push(layer);
    g.backend.push(backend);
    g.topology.push(topology.map(TopologyId));
    g.n_nodes.push(n_nodes);
    g.n_tokens.push(0);
    g.n_past.push(None);
    g.thread.push(ThreadId(thread));
    g.decode.push(decode.map(LlamaCallId));
    g.parent.push(None);
}

/// Nodes of 4x8 floats; the first is computed from a weight, each later one from its predecessor.
fn topology(m: &mut Model, pid: u32, nodes: &[(&str, &str, &str)]) -> Topology {
    let node = |m: &mut Model, (name, op, desc), dtype, ne, src| Node {
        name: m.texts.intern(name),
        op: m.texts.intern(op),
        desc: m.texts.intern(desc),
        dtype: m.texts.intern(dtype),
        role: Role::Node,
        ne,
        bytes: 0,
        address: 0,
        data: 0,
        buffer: None,
        view_of: None,
        src,
    };
    let n = nodes.len() as u32;
    let mut rows = Vec::new();
    for (i, tensor) in (0..).zip(nodes) {
        let src = if i == 0 { vec![(0, NodeIdx(n)), (2, NodeIdx(n + 1))] } else { vec![(0, NodeIdx(i - 1))] };
        rows.push(node(m, *tensor, "f32", [4, 8, 1, 1], src));
    }
    rows.push(node(m, ("</script>", "NONE", "NONE"), "q8_0", [4, 1, 2, 1], vec![]));
    rows.push(node(m, ("", "", ""), "", [1, 1, 1, 1], vec![]));
    Topology { pid, n_nodes: n, nodes: rows, complete: false }
}

/// Tracks: process, name, kind, thread, slices, total ns.
pub(crate) const TRACKS: [(u32, &str, &str, u32, u64, u64); 10] = [
    (100, "token, main\té 100", "token", 100, 3, 900 + 500 + 100),
    (100, "token, b 200", "token", 200, 1, 300),
    (100, "graph, main\té 100", "graph", 100, 3, 700 + 650 + 300),
    (100, "graph, b 200", "graph", 200, 1, 200),
    (100, "main\té 100", "thread", 100, 7, 100 + 40 + 200 + 250 + 10 + 20 + 5),
    (100, "thread 101", "thread", 101, 3, 120 + 7),
    (100, "b 200", "thread", 200, 1, 190),
    (300, "graph", "graph", 300, 1, 100),
    (300, "w 300", "thread", 300, 2, 100),
    (0, "thread 400", "thread", 400, 2, 35),
];

/// Slices by track and start: process, track, depth, start, end, name, categories, arguments.
pub(crate) fn slices() -> Vec<Value> {
    let from = "f32 4x8 from </script> q8_0 4x1x2, node 5 (description lost)";
    let nameless = from.replace("node 5", "node 2");
    let act = "f32 4x8 from mul→é f32 4x8";
    let call = |call, function, context, n_tokens, status| {
        let mut args = json!({ "call": call, "function": function, "context": context, "status": status });
        if n_tokens != 0 {
            args["n_tokens"] = json!(n_tokens);
        }
        args
    };
    let op = |tensor: &str, cpu| json!({ "tensor": tensor, "cpu": cpu });
    let fused = json!({ "tensor": from, "cpu": 0, "fused": "mul→é" });
    let rows = [
        (0, 0, 1000, 1900, "prefill n=8", "token", call(0, "llama_decode", "0xa", 8, 0)),
        (0, 0, 2000, 2500, "decode", "token", call(2, "llama_decode", "0xa", 1, 0)),
        (0, 0, 2600, 2700, "llama_encode", "token", call(3, "llama_encode", "0xa", 0, -1)),
        (1, 0, 1500, 1800, "decode", "token", call(1, "llama_decode", "0xb", 1, 0)),
        (
            2,
            0,
            1100,
            1800,
            "graph scheduler (4 nodes)",
            "graph",
            json!({ "layer": "scheduler", "n_nodes": 4 }),
        ),
        (
            2,
            1,
            1100,
            1750,
            "graph CPU (4 nodes)",
            "graph",
            json!({ "layer": "backend", "backend": "CPU", "n_nodes": 4, "topology": 0 }),
        ),
        (
            2,
            0,
            2100,
            2400,
            "graph backend (4 nodes)",
            "graph",
            json!({ "layer": "backend", "n_nodes": 4, "topology": 0 }),
        ),
        (
            3,
            0,
            1550,
            1750,
            "graph CPU (1 node)",
            "graph",
            json!({ "layer": "backend", "backend": "CPU", "n_nodes": 1, "topology": 1 }),
        ),
        (4, 0, 1160, 1260, NORM, "RMS_NORM", fused.clone()),
        (4, 0, 1260, 1300, "barrier", "barrier", json!({})),
        (4, 0, 1300, 1500, "act", "UNARY,SILU", json!({ "tensor": act, "cpu": 3, "migrated": true })),
        (4, 0, 1500, 1750, "barrier", "barrier", json!({})),
        (4, 0, 2110, 2120, NORM, "RMS_NORM", op(from, 0)),
        (4, 0, 2120, 2140, "barrier", "barrier", json!({})),
        (4, 0, 2200, 2205, NORM, "RMS_NORM", fused),
        (5, 0, 1165, 1285, NORM, "RMS_NORM", json!({ "tensor": from, "cpu": 1, "fused": "mul→é" })),
        (5, 0, 1400, 1400, "node 3 (description lost)", "", json!({})),
        (5, 0, 1400, 1407, "barrier", "barrier", json!({})),
        (6, 0, 1560, 1750, "MUL_MAT (node 0)", "MUL_MAT", op(&nameless, 65_534)),
        (
            7,
            0,
            3000,
            3100,
            "graph CPU (1 node)",
            "graph",
            json!({ "layer": "backend", "backend": "CPU", "n_nodes": 1, "topology": 1 }),
        ),
        (8, 0, 3000, 3090, "MUL_MAT (node 0)", "MUL_MAT", json!({ "tensor": nameless })),
        (8, 0, 3090, 3100, "barrier", "barrier", json!({})),
        (
            9,
            0,
            3010,
            3040,
            "MUL_MAT (node 0)",
            "MUL_MAT",
            json!({ "tensor": nameless, "cpu": 0, "migrated": true }),
        ),
        (9, 0, 3040, 3045, "barrier", "barrier", json!({})),
    ];
    let list =
        |(track, depth, start, end, name, category, args): (usize, u32, u64, u64, &str, &str, Value)| {
            let (process, track, ..) = TRACKS[track];
            json!([process, track, depth, T0 + start, T0 + end, name, category, args])
        };
    rows.into_iter().map(list).collect()
}
