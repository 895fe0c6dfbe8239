//! The examples of `docs/wire-format.md` are the test vectors: each is the encoding of the record built here, decodes
//! back to it, and no prefix and no flipped bit of it is taken for another record.
//!
//! `PROFINFER_BLESS=1 cargo test -p profinfer-wire` writes the examples anew; look at the difference before committing it.
#![expect(clippy::expect_used, reason = "a test fails where it cannot go on")]
#![expect(clippy::indexing_slicing, reason = "likewise")]

mod sched;

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::counts::{Counted, Counts};
use profinfer_wire::experts::{self, Expert, Runs};
use profinfer_wire::frame::{Frame, MAX_ENCODED, MAX_PAYLOAD, decode, encode};
use profinfer_wire::gauges::{GaugeSample, Gauges};
use profinfer_wire::hello::{CANARY, HELLO_LEN, Hello, HelloError};
use profinfer_wire::placements::{MAX_PLACEMENT_LEN, Placement, Placements};
use profinfer_wire::record::ceiling::{Ceiling, CeilingKind};
use profinfer_wire::record::cost::ProbeCost;
use profinfer_wire::record::counter::{CountedBatch, Counter, SLOTS, why};
use profinfer_wire::record::direct::{self, DirectLoss, Probes, ProbesRequest, ProbesUsed};
use profinfer_wire::record::expert::{ExpertBatch, ExpertLoss};
use profinfer_wire::record::fact::{Fact, FactScope, FactValue};
use profinfer_wire::record::gauge::{Gauge, GaugeBatch, GaugeKind, GaugeParse, GaugeUnit};
use profinfer_wire::record::graph::{Role, Tensor, Tensors};
use profinfer_wire::record::loss::{End, EndReason, Loss};
use profinfer_wire::record::nested::{MAX_NESTED_CALL_LEN, NestedBatch, NestedCall, NestedLoss};
use profinfer_wire::record::op::SpanBatch;
use profinfer_wire::record::session::{Library, Probe, Process, Session, Text, Thread};
use profinfer_wire::record::weight::{Buffer, Memory, PlacementBatch};
use profinfer_wire::record::{Record, clock::Clock, control, graph, token::Decode};
use profinfer_wire::span::{Cursor, Span};

/// The document. Found at run time, since another clone may share the build cache.
fn document_path() -> std::path::PathBuf {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    std::path::Path::new(&root).join("../docs/wire-format.md")
}

const LOSS: Loss = Loss {
    at_ns: 5_000_000_000,
    span_starts: 1001,
    span_ends: 1000,
    spans_sent: 990,
    spans_ring_full: 5,
    spans_queue_full: 3,
    spans_no_start: 2,
    spans_no_end: 1,
    spans_no_graph: 0,
    calls_ring_full: 0,
    tensors_ring_full: 0,
    frames_queue_full: 1,
    bytes_queue_full: 700,
    no_state: 0,
};

const HELLO: Hello =
    Hello { wire_version: 1, agent_version: [0, 1, 0], build: [0; 8], nonce: *b"0123456789abcdef" };

/// Spans of the worked example: a plain one, one after a view, a fused one, one on another CPU.
fn spans() -> [Span; 4] {
    let span = |node, last_node, start_ns, work_ns, cpu| Span {
        node,
        last_node,
        start_ns,
        work_ns,
        cpu,
        migrated: false,
    };
    [
        span(0, 0, 1_000_000, 900, 1),
        span(2, 2, 1_001_400, 12_000, 1),
        span(3, 4, 1_013_700, 2_000, 1),
        span(9, 9, 1_016_000, 250, 3),
    ]
}

fn packed_spans() -> Vec<u8> {
    let mut bytes = [0; 256];
    let mut cursor = Cursor::new(1_000_000, 1);
    let len = spans().iter().fold(0, |at, s| cursor.encode(s, &mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

/// What the four spans of the worked example counted: two slots; one off the CPU twice; one without hardware counters.
fn counted() -> [Counted; 4] {
    let counted = |values: &[Option<u64>], switches, why| {
        let mut all = [None; SLOTS];
        all[..values.len()].copy_from_slice(values);
        Counted { values: all, switches, why }
    };
    [
        counted(&[Some(2_000), Some(31)], 0, 0),
        counted(&[Some(30_000), Some(812)], 2, 0),
        counted(&[None, Some(0)], 1, why::MIXED | why::TORN),
        counted(&[], 0, why::MULTIPLEXED),
    ]
}

fn packed_counts() -> Vec<u8> {
    let mut bytes = [0; 256];
    let len = counted().iter().fold(0, |at, c| c.encode(&mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

/// Two tokens in two layers, two experts a token: a run for the first layer, two for the second, cut inside a row.
const SELECTIONS: [(u32, u32, u32, &[u32]); 3] =
    [(60, 2, 0, &[7, 300, 0, 59]), (110, 2, 0, &[1]), (110, 2, 1, &[2, 3, 4])];

fn packed_selections() -> Vec<u8> {
    let mut bytes = [0; 256];
    let mut cursor = experts::Cursor::default();
    let len = SELECTIONS.iter().fold(0, |at, (node, n_used, first, ids)| {
        cursor.encode(*node, *n_used, *first, ids, &mut bytes, at).expect("room")
    });
    bytes[..len].to_vec()
}

/// What four gauges said: a frequency, a temperature below zero, a node that could not be read, bytes.
fn samples() -> [GaugeSample; 4] {
    let sample = |id, value| GaugeSample { id, value };
    [
        sample(0, Some(1_800_000_000)),
        sample(1, Some(-5_000)),
        sample(2, None),
        sample(63, Some(0x12_3456_7890)),
    ]
}

fn packed_samples() -> Vec<u8> {
    let mut bytes = [0; 256];
    let len = samples().iter().fold(0, |at, s| s.encode(&mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

/// Three weights: the first tensor of the topology, the one behind it, one far behind in another buffer.
fn placements() -> [Placement; 3] {
    [(0, 1), (1, 1), (300, 2)].map(|(index, buffer)| Placement { index, buffer })
}

fn packed_placements() -> Vec<u8> {
    let mut bytes = [0; 3 * MAX_PLACEMENT_LEN];
    let (mut len, mut before) = (0, None);
    for placement in placements() {
        len = placement.encode(before, &mut bytes, len).expect("room");
        before = Some(placement.index);
    }
    bytes[..len].to_vec()
}

/// Two nested calls of one operator: one inside the other.
fn nested_calls() -> [NestedCall; 2] {
    let outer = NestedCall {
        tid: 43,
        function: 5,
        backend: 6,
        node: 0,
        depth: 0,
        start_ns: 1_400,
        duration_ns: 11_000_000,
    };
    [NestedCall { function: 7, depth: 1, start_ns: 2_000, duration_ns: 10_000_000, ..outer }, outer]
}

fn packed_nested_calls() -> Vec<u8> {
    let pack =
        |call: &NestedCall| postcard::to_slice(call, &mut [0; MAX_NESTED_CALL_LEN]).expect("room").to_vec();
    nested_calls().iter().flat_map(pack).collect()
}

fn packed_tensor() -> Vec<u8> {
    let tensor = Tensor {
        name: 2,
        op: 3,
        desc: 3,
        dtype: 4,
        role: Role::Node,
        ne: [64, 5, 1, 1],
        bytes: 1280,
        address: 0x7f00_0000_1000,
        data: 0,
        view_of: 0,
        src: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    postcard::to_slice(&tensor, &mut [0; 256]).expect("room").to_vec()
}

fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let (spans, tensor) = (packed_spans(), packed_tensor());
    let session = Session {
        wire_version: 1,
        agent: "0.1.0",
        kernel: "6.1.0",
        machine: "aarch64",
        cpu_model: "board",
        board: "generic",
        cpus: 8,
        levels: 7,
        start_ns: 1_000_000_000,
        start_unix_ns: 1_790_000_000_000_000_000,
    };
    check("session", &Record::Session(session));
    check("text", &Record::Text(Text { id: 3, text: "MUL_MAT" }));
    let process =
        Process { pid: 42, name: "llama-cli", command: "llama-cli -m m.gguf", engine_version: "0.7.0" };
    check("process", &Record::Process(process));
    let library = Library { pid: 42, path: "/usr/lib/libllama.so", build_id: &[0xab, 0xcd], role: "token" };
    check("library", &Record::Library(library));
    check("thread", &Record::Thread(Thread { tid: 43, pid: 42, name: "worker" }));
    let probe = Probe {
        pid: 42,
        level: 4,
        what: "operator start",
        symbol: "ggml_cpu_extra_compute_forward",
        library: "/usr/lib/libggml-cpu.so",
        offset: 0x192ec,
        attached: true,
        note: "call",
    };
    check("probe", &Record::Probe(probe));
    check("probe cost", &Record::ProbeCost(ProbeCost { pairs: 2048, pair_ns: 1310, inside_ns: 640 }));
    let used = ProbesUsed {
        pid: 42,
        used: Probes::Uprobe,
        why: direct::why::MAPPING,
        detail: "mmap: EACCES",
        places: 3,
        repaired: 2,
        stopped_ns: 812_000,
    };
    check("probes used", &Record::ProbesUsed(used));
    let call = Decode {
        id: 1,
        pid: 42,
        tid: 42,
        function: 0,
        context: 0x5000,
        start_ns: 2_000_000_000,
        duration_ns: 51_000_000,
        n_tokens: Some(5),
        status: 0,
    };
    check("decode", &Record::Decode(call));
    check("topology", &Record::Topology(graph::Topology { id: 1, pid: 42, n_nodes: 1, n_leafs: 1 }));
    check("tensors", &Record::Tensors(Tensors { topology: 1, first: 0, count: 1, bytes: &tensor }));
    let graph_call = graph::GraphCall {
        id: 2,
        topology: 1,
        pid: 42,
        tid: 42,
        layer: graph::layer::BACKEND,
        backend: 1,
        n_nodes: 1,
        n_tokens: 5,
        decode: 1,
        parent: 1,
        start_ns: 2_000_100_000,
        duration_ns: 50_000_000,
    };
    check("graph call", &Record::GraphCall(graph_call));
    check("past", &Record::Past(graph::Past { graph: 2, n_past: 300 }));
    let buffer = Buffer { id: 1, pid: 42, kind: "CPU_Mapped", memory: Memory::File, path: "/models/m.gguf" };
    check("buffer", &Record::Buffer(buffer));
    let own = Buffer { id: 2, kind: "CPU_REPACK", memory: Memory::Anonymous, path: "", ..buffer };
    check("buffer of repacked weights", &Record::Buffer(own));
    let placements = packed_placements();
    check(
        "placement batch",
        &Record::PlacementBatch(PlacementBatch { topology: 1, count: 3, bytes: &placements }),
    );
    let batch =
        SpanBatch { graph: 2, topology: 1, tid: 43, base_ns: 1_000_000, cpu: 1, count: 4, bytes: &spans };
    check("span batch", &Record::SpanBatch(batch));
    let counter = Counter {
        slot: 4,
        name: "L3D_CACHE_REFILL",
        event: 0x2a,
        pmu: "armv8_cortex_a76",
        cpus: "4-7",
        attached: true,
        note: "",
    };
    check("counter", &Record::Counter(counter));
    let batch = CountedBatch {
        graph: 2,
        topology: 1,
        tid: 43,
        base_ns: 1_000_000,
        cpu: 1,
        count: 4,
        bytes: &spans,
        counts: &packed_counts(),
    };
    check("counted batch", &Record::CountedBatch(batch));
    let calls = packed_nested_calls();
    let batch = NestedBatch { graph: 2, topology: 1, base_ns: 2_000_100_000, count: 2, bytes: &calls };
    check("nested batch", &Record::NestedBatch(batch));
    let loss = NestedLoss {
        at_ns: 5_000_000_000,
        starts: 101,
        ends: 100,
        sent: 90,
        ring_full: 5,
        queue_full: 3,
        no_start: 2,
        no_end: 1,
        no_graph: 0,
    };
    check("nested loss", &Record::NestedLoss(loss));
    let selections = packed_selections();
    let batch = ExpertBatch { graph: 2, topology: 1, count: 3, bytes: &selections };
    check("expert batch", &Record::ExpertBatch(batch));
    let loss = ExpertLoss {
        at_ns: 5_000_000_000,
        chosen: 1000,
        sent: 980,
        ring_full: 12,
        queue_full: 4,
        unreadable: 3,
        no_graph: 1,
    };
    check("expert loss", &Record::ExpertLoss(loss));
    let gauge = Gauge {
        id: 0,
        name: "CPU frequency policy0",
        kind: GaugeKind::Frequency,
        unit: GaugeUnit::Hertz,
        source: "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
        period_ms: 100,
        attached: true,
        note: "",
    };
    check("gauge", &Record::Gauge(gauge));
    let samples = packed_samples();
    let batch = GaugeBatch { at_ns: 2_500_000_000, count: 4, bytes: &samples };
    check("gauge batch", &Record::GaugeBatch(batch));
    let fact = |scope, name, value| Record::Fact(Fact { at_ns: 2_500_000_000, scope, name, value });
    let (system, process) = (FactScope::System, FactScope::Process(42));
    check("fact of the system", &fact(system, "memory.available", FactValue::Number(6_442_450_944)));
    check("fact of a process", &fact(process, "env.OMP_WAIT_POLICY", FactValue::Text("passive")));
    check("fact of a thread", &fact(FactScope::Thread(43), "run_delay_ns", FactValue::Number(1_300)));
    check("fact of a CPU", &fact(FactScope::Cpu(4), "cpu.governor", FactValue::Absent("no cpufreq")));
    let ceiling = Ceiling {
        kind: CeilingKind::Read,
        core: "Cortex-A76",
        cpus: "4-5",
        how: "ldp q",
        repeats: 7,
        median: 18_400_000_000,
        min: 18_100_000_000,
        max: 18_600_000_000,
        note: "",
    };
    check("ceiling", &Record::Ceiling(ceiling));
    let unmeasured = Ceiling {
        kind: CeilingKind::WakeUp,
        core: "",
        cpus: "0-3,6",
        how: "futex",
        repeats: 0,
        median: 0,
        min: 0,
        max: 0,
        note: "interrupted",
    };
    check("ceiling that was not measured", &Record::Ceiling(unmeasured));
    sched::with_records(check);
    let clock = Clock { monotonic_ns: 1, boottime_ns: 300, realtime_ns: 1_790_000_000_000_000_000 };
    check("clock", &Record::Clock(clock));
    let loss = DirectLoss {
        at_ns: 5_000_000_100,
        records: 1001,
        ring_full: 300,
        no_slot: 2,
        clamped: 1,
        clock_error_ns: 45,
    };
    check("direct loss", &Record::DirectLoss(loss));
    check("loss", &Record::Loss(LOSS));
    let end = End {
        reason: EndReason::EngineEnded,
        frames: 17,
        loss: LOSS,
        bpf_run_ns: 0,
        bpf_runs: 0,
        agent_cpu_ns: 360_000_000,
        agent_rss_bytes: 13_000_000,
    };
    check("end", &Record::End(end));
    check(
        "plan",
        &Record::Plan(control::Plan { wire_version: 1, board: "rk3588", levels: 7, target: "llama*" }),
    );
    let request = control::CounterRequest { name: "L3D_CACHE_REFILL", event: 0x2a, midr: 0x4100_d0b0 };
    check("counter request", &Record::CounterRequest(request));
    let path = "/sys/class/thermal/thermal_zone*/temp";
    let request = control::GaugeRequest {
        name: "temperature",
        kind: GaugeKind::Temperature,
        unit: GaugeUnit::Millidegrees,
        source: control::GaugeSource::File { path, parse: GaugeParse::Integer },
        period_ms: 100,
    };
    check("gauge request", &Record::GaugeRequest(request));
    let request = control::GaugeRequest {
        name: "memory traffic",
        kind: GaugeKind::Ddr,
        unit: GaugeUnit::Bytes,
        source: control::GaugeSource::Pmu { pmu: "rockchip_ddr", event: "read-bytes" },
        period_ms: 100,
    };
    check("gauge request of a PMU", &Record::GaugeRequest(request));
    let request = control::BenchRequest { cpus: "4-7", threads: "1,2,4", budget_ms: 12_000 };
    check("bench request", &Record::BenchRequest(request));
    check("probes request", &Record::ProbesRequest(ProbesRequest { probes: Probes::Direct }));
    let nonce = core::array::from_fn(|i| i as u8);
    check("resume", &Record::Resume(control::Resume { nonce, seq: 300 }));
    check("start", &Record::Start(control::Start {}));
    check("stop", &Record::Stop(control::Stop {}));
    check("refused", &Record::Refused(control::Refused { reason: "no" }));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The frame of a record as it lies on the wire, with sequence number 7.
fn framed(record: &Record<'_>) -> Vec<u8> {
    let (mut payload, mut out) = ([0; MAX_PAYLOAD], [0; MAX_ENCODED]);
    let payload = record.encode(&mut payload).expect("fits");
    let len = encode(&Frame { kind: record.kind(), seq: 7, payload }, &mut out).expect("fits");
    out[..len].to_vec()
}

fn examples() -> String {
    let mut text = format!("hello: {}\n", hex(&HELLO.to_bytes()));
    with_records(&mut |name, record| {
        let mut payload = [0; MAX_PAYLOAD];
        let payload = record.encode(&mut payload).expect("fits");
        text += &format!("{name} {:#06x}: {}\n", record.kind(), hex(payload));
    });
    with_records(&mut |name, record| {
        if name == "thread" {
            text += &format!("frame of thread, sequence number 7: {}\n", hex(&framed(record)));
        }
    });
    text
}

#[test]
fn nested_calls_come_back_and_the_longest_fits() {
    let bytes = packed_nested_calls();
    let batch = NestedBatch { graph: 2, topology: 1, base_ns: 0, count: 2, bytes: &bytes };
    assert!(batch.iter().eq(nested_calls()));
    assert_eq!(NestedBatch { bytes: &bytes[..bytes.len() - 1], ..batch }.iter().count(), 1);
    let most = u32::MAX;
    let longest = NestedCall {
        tid: most,
        function: most,
        backend: most,
        node: most,
        depth: u8::MAX,
        start_ns: u64::MAX,
        duration_ns: u64::MAX,
    };
    let len = postcard::to_slice(&longest, &mut [0; 64]).expect("room").len();
    assert_eq!(len, MAX_NESTED_CALL_LEN);
}

#[test]
fn the_document_holds_the_encodings() {
    const BEGIN: &str = "```vectors\n";
    let document = std::fs::read_to_string(document_path()).expect("docs/wire-format.md");
    let (before, rest) = document.split_once(BEGIN).expect("a vectors block");
    let (block, after) = rest.split_once("```").expect("its end");
    let expected = examples();
    if std::env::var_os("PROFINFER_BLESS").is_some() {
        std::fs::write(document_path(), format!("{before}{BEGIN}{expected}```{after}")).expect("written");
        return;
    }
    assert_eq!(block, expected, "the wire changed: a published record never does; see the test's head");
}

/// Feeds the bytes, then a good frame; what came before it, and that it came.
fn feed(bytes: &[u8], good: &[u8], check: &mut dyn FnMut(&Frame<'_>)) -> bool {
    let mut accumulator = Accumulator::new();
    let mut all = bytes.to_vec();
    all.push(0);
    all.extend_from_slice(good);
    let mut input = all.as_slice();
    let mut arrived = false;
    let good_frame = {
        let mut chunk = good[..good.len() - 1].to_vec();
        decode(&mut chunk).map(|f| (f.kind, f.seq, f.payload.to_vec())).expect("good")
    };
    while !input.is_empty() {
        if let Some(Found::Frame(frame)) = accumulator.feed(&mut input) {
            if (frame.kind, frame.seq, frame.payload.to_vec()) == good_frame {
                arrived = true;
            } else {
                check(&frame);
            }
        }
    }
    arrived
}

#[test]
fn no_prefix_and_no_flipped_bit_is_taken_for_another_record() {
    let good = framed(&Record::Text(Text { id: 99, text: "good" }));
    with_records(&mut |name, record| {
        let bytes = framed(record);
        for cut in 0..bytes.len() - 1 {
            let arrived = feed(&bytes[..cut], &good, &mut |f| panic!("{name} cut at {cut} gave {f:?}"));
            assert!(arrived, "{name} cut at {cut}: the next frame");
        }
        for bit in 0..(bytes.len() - 1) * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let arrived = feed(&flipped, &good, &mut |f| panic!("{name} with bit {bit} flipped gave {f:?}"));
            assert!(arrived, "{name} with bit {bit} flipped: the next frame");
        }
        let mut whole = 0;
        feed(&bytes, &good, &mut |f| {
            assert_eq!(Record::decode(f).as_ref(), Ok(record));
            whole += 1;
        });
        assert_eq!(whole, 1, "{name}");
    });
}

#[test]
fn packed_counts_decode_to_what_was_packed() {
    let bytes = packed_counts();
    assert_eq!(Counts::new(4, &bytes).collect::<Vec<_>>(), counted());
    for cut in 0..bytes.len() {
        let mut short = Counts::new(4, &bytes[..cut]);
        assert!(short.by_ref().count() < 4 && short.failed);
    }
    // A mask with more bits than there are slots.
    assert_eq!(Counts::new(1, &[0x80, 0x20, 0, 0]).next(), None);
}

#[test]
fn packed_samples_decode_to_what_was_packed() {
    let bytes = packed_samples();
    assert_eq!(Gauges::new(4, &bytes).collect::<Vec<_>>(), samples());
    for cut in 0..bytes.len() {
        let mut short = Gauges::new(4, &bytes[..cut]);
        assert!(short.by_ref().count() < 4 && short.failed);
    }
    // A number that no gauge can have.
    assert_eq!(Gauges::new(1, &[0x80, 0x80, 0x08]).next(), None);
}

#[test]
fn packed_placements_decode_to_what_was_packed() {
    let bytes = packed_placements();
    assert_eq!(Placements::new(3, &bytes).collect::<Vec<_>>(), placements());
    for cut in 0..bytes.len() {
        let mut short = Placements::new(3, &bytes[..cut]);
        assert!(short.by_ref().count() < 3 && short.failed);
    }
    // A weight twice or in the wrong order cannot be said; an index beyond 32 bits is none.
    let [first, second, _] = placements();
    assert_eq!(first.encode(Some(1), &mut [0; 9], 0), None);
    assert_eq!(second.encode(Some(1), &mut [0; 9], 0), None);
    assert_eq!(Placements::new(1, &[0xff, 0xff, 0xff, 0xff, 0x10, 1]).next(), None);
    let mut beyond = Placements::new(2, &[0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0, 1]);
    assert_eq!((beyond.by_ref().count(), beyond.failed), (1, true));
}

#[test]
fn packed_selections_decode_to_what_was_packed() {
    let bytes = packed_selections();
    for (run, (node, n_used, first, ids)) in Runs::new(3, &bytes).zip(SELECTIONS) {
        assert_eq!((run.node, run.n_used, run.first), (node, n_used, first));
        let expected = ids.iter().zip(first..).map(|(expert, position)| Expert {
            token: position / n_used,
            rank: position % n_used,
            expert: *expert,
        });
        assert!(run.experts().eq(expected));
    }
    for cut in 0..bytes.len() {
        let mut short = Runs::new(3, &bytes[..cut]);
        assert!(short.by_ref().count() < 3 && short.failed);
    }
    // No experts a token; positions beyond 32 bits; a node before the first.
    for bad in [&[0, 0, 0, 0][..], &[0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0], &[1, 1, 0, 0]] {
        assert_eq!(Runs::new(1, bad).next(), None, "{bad:?}");
    }
}

#[test]
fn packed_spans_decode_to_what_was_packed() {
    let bytes = packed_spans();
    let batch =
        SpanBatch { graph: 0, topology: 0, tid: 0, base_ns: 1_000_000, cpu: 1, count: 4, bytes: &bytes };
    assert_eq!(batch.spans().collect::<Vec<_>>(), spans());
    for cut in 0..bytes.len() {
        let mut short = SpanBatch { bytes: &bytes[..cut], ..batch }.spans();
        assert!(short.by_ref().count() < 4 && short.failed);
    }
}

#[test]
fn hello_every_prefix_and_every_bit() {
    let bytes = HELLO.to_bytes();
    assert_eq!(Hello::parse(&bytes), Ok(HELLO));
    for cut in 0..HELLO_LEN {
        let expected = if cut == 0 { HelloError::NotAStream } else { HelloError::Short { found: cut } };
        assert_eq!(Hello::parse(&bytes[..cut]), Err(expected), "cut at {cut}");
    }
    for bit in 0..HELLO_LEN * 8 {
        let mut flipped = bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Hello::parse(&flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn hello_of_other_versions() {
    let of = |wire_version| Hello::parse(&Hello { wire_version, ..HELLO }.to_bytes());
    assert_eq!(of(2), Err(HelloError::Newer { found: 2 }));
    assert_eq!(of(0), Err(HelloError::Older { found: 0 }));
    assert_eq!(of(1), Ok(HELLO));
}

#[test]
fn rewritten_line_ends_are_recognised() {
    let bytes = HELLO.to_bytes();
    let replace = |from: &[u8], to: &[u8]| {
        let (mut out, mut i) = (Vec::new(), 0);
        while i < bytes.len() {
            if bytes[i..].starts_with(from) {
                out.extend_from_slice(to);
                i += from.len();
            } else {
                out.push(bytes[i]);
                i += 1;
            }
        }
        out.resize(HELLO_LEN, 0);
        out
    };
    assert!(bytes.windows(8).any(|w| w == CANARY));
    for (from, to) in [("\n", "\r\n"), ("\r\n", "\n"), ("\r", "\n"), ("\r", "")] {
        let seen = Hello::parse(&replace(from.as_bytes(), to.as_bytes()));
        assert_eq!(seen, Err(HelloError::NewlinesRewritten), "{from:?} to {to:?}");
    }
}

#[test]
fn the_longest_frame_fits() {
    for byte in [0u8, 1, 255] {
        let payload = [byte; MAX_PAYLOAD];
        let mut out = [0; MAX_ENCODED];
        let frame = Frame { kind: 1, seq: 0, payload: &payload };
        let len = encode(&frame, &mut out).expect("fits");
        assert!(len <= MAX_ENCODED);
        let mut input = &out[..len];
        assert_eq!(Accumulator::new().feed(&mut input), Some(Found::Frame(frame)));
        assert!(encode(&Frame { payload: &[byte; MAX_PAYLOAD + 1], ..frame }, &mut out).is_none());
    }
}
