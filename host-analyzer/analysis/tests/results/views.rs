//! JSON, DOT and terminal: their figures are those of the analysis, other programs can read their
//! bytes, and hostile names stay names.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use profinfer_analysis::Analysis;
use profinfer_trace::model::*;
use profinfer_views::{dag, dot, summary, terminal};
use serde_json::{Value, json};

use crate::models::{calls, routed, small};
use profinfer_trace::test_support::tables::{self as synthetic, Spec};

pub(crate) type View = fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()>;

pub(crate) fn bytes(view: View, model: &Model) -> Vec<u8> {
    let mut out = Vec::new();
    view(model, &Analysis::compute(model), &mut out).unwrap();
    out
}

fn text(view: View, model: &Model) -> String {
    String::from_utf8(bytes(view, model)).unwrap()
}

fn json_of(view: View, model: &Model) -> Value {
    serde_json::from_slice(&bytes(view, model)).unwrap()
}

/// The small session with names that try to break out of every format.
pub(crate) fn hostile() -> Model {
    let mut m = small::model();
    let names = [
        "</script><img src=x onerror=alert(1)>",
        "\"]; graph { \\N &lt;",
        "a,\"b\"\r\nc",
        "\u{1b}[2J\u{7}\u{0}é漢🦀\u{202e}",
        "=1+1",
    ];
    for (i, node) in m.topologies.rows.iter_mut().flat_map(|s| &mut s.nodes).enumerate() {
        node.name = m.texts.intern(names[i % names.len()]);
        node.op = m.texts.intern(names[(i + 1) % names.len()]);
        node.desc = node.op;
        node.dtype = m.texts.intern(names[(i + 2) % names.len()]);
    }
    m.session.board = names[3].into();
    m.session.processes.push(Process {
        pid: 7,
        name: names[3].into(),
        command: names.join(" "),
        engine_version: names[1].into(),
    });
    m
}

#[test]
fn summary_holds_the_figures_of_the_small_session() {
    let s = json_of(summary::summary, &small::model());
    assert_eq!(s["schema"], 2);
    assert_eq!(s["session"]["levels"], json!(["token", "graph", "operator"]));
    assert_eq!(s["health"]["lines"], json!(["complete: 18 spans, nothing lost"]));
    assert_eq!(s["health"]["spans"]["kernel"], 18);
    assert_eq!(s["tokens"]["requests"][0]["tpot_ns"], 510);
    assert_eq!(s["tokens"]["calls"][1]["phase"], "decode");
    assert_eq!(s["tokens"]["calls"][1]["op_wall_ns"], 144);
    assert_eq!(s["graphs"][1]["backend"], "CPU");
    assert_eq!(s["op_types"][2]["wall_ns"], 235);
    assert_eq!(s["operators"][4]["fused"], "attn_norm-0");
    assert_eq!(s["operators"][3]["fused"], Value::Null);
    assert_eq!(s["threads"][1]["work_ns"], 800);
    assert_eq!(s["cost"]["bytes_per_span"], 6.0);
}

#[test]
fn dag_holds_the_figures_of_the_small_session() {
    let d = json_of(dag::dag, &small::model());
    assert_eq!(d["schema"], 2);
    assert_eq!(d["graphs"][1]["phase"], "decode");
    assert_eq!(d["graphs"][1]["nodes"][0]["wall_ns"], 118);
    assert_eq!(d["graphs"][1]["nodes"][3]["fused_with"], 2);
    assert_eq!(
        d["graphs"][1]["edges"][5],
        json!({"from": 7, "to": 3, "slot": 1, "ne": [64, 1, 1, 1], "dtype": "q8_0", "bytes": 256})
    );
}

/// Adds placements of the weights to the small session: `wq` of 16,384 bytes was repacked, `wn` of
/// 256 is mapped from the file.
fn place(m: &mut Model) {
    let buffer = |kind: &str, memory, path: &str| Buffer {
        pid: small::PID,
        kind: kind.to_owned(),
        memory,
        path: path.to_owned(),
    };
    m.buffers = vec![
        buffer("CPU_Mapped", Memory::File, "/models/a\u{1b}.gguf"),
        buffer("CPU_REPACK", Memory::Anonymous, ""),
    ];
    for node in m.topologies.rows.iter_mut().flat_map(|t| &mut t.nodes).filter(|n| n.role == Role::Weight) {
        node.buffer = Some(BufferId(u32::from(node.bytes > 256)));
    }
}

#[test]
fn every_view_says_where_the_weights_lie() {
    let mut m = small::model();
    place(&mut m);
    let library = |path: &str| Library {
        pid: small::PID,
        path: path.to_owned(),
        build_id: String::new(),
        roles: vec![LibraryRole::CpuOperators],
    };
    m.session.libraries.push(library("/usr/lib/libggml-cpu-zen4.so"));
    let (name, command, engine_version) = (String::new(), String::new(), "llama.cpp 1".to_owned());
    m.session.processes.push(Process { pid: small::PID, name, command, engine_version });
    let s = json_of(summary::summary, &m);
    assert_eq!(
        s["engines"],
        json!([{"pid": 7, "name": "", "version": "llama.cpp 1", "cpu_backend": "variant", "cpu_variant": "zen4",
            "cpu_library": "/usr/lib/libggml-cpu-zen4.so"}])
    );
    let mapped = json!({"buffer": "CPU_Mapped", "memory": "file", "path": "/models/a\u{1b}.gguf", "tensors": 1, "bytes": 256});
    let own =
        json!({"buffer": "CPU_REPACK", "memory": "anonymous", "path": null, "tensors": 1, "bytes": 16_384});
    assert_eq!(
        s["weights"],
        json!([{"pid": 7, "context": "0x5500", "tensors": 2, "bytes": 16_640, "mapped_bytes": 256, "own_bytes": 16_384,
            "device_bytes": 0, "unknown_bytes": 0, "buffers": [own, mapped]}])
    );
    let d = json_of(dag::dag, &m);
    let nodes = &d["graphs"][1]["nodes"];
    assert_eq!((&nodes[5]["memory"], &nodes[5]["buffer"]), (&json!("anonymous"), &json!("CPU_REPACK")));
    assert_eq!((&nodes[7]["memory"], &nodes[7]["buffer"]), (&json!("file"), &json!("CPU_Mapped")));
    assert_eq!((&nodes[6]["memory"], &nodes[0]["buffer"]), (&Value::Null, &Value::Null));
    let t = text(terminal::terminal, &m);
    for line in [
        "CPU backend: variant zen4 (libggml-cpu-zen4.so)",
        "weights: 16.2 KiB: 16.0 KiB in anonymous memory (CPU_REPACK), 256 B mapped from a\u{fffd}.gguf (CPU_Mapped)",
    ] {
        assert!(t.replace("\u{1b}[0m\n\u{1b}[2m", " ").contains(line), "{t}");
    }
}

/// Recordings of agents without placements.
#[test]
fn no_view_guesses_where_weights_lie() {
    let m = small::model();
    let s = json_of(summary::summary, &m);
    assert_eq!(
        s["weights"],
        json!([{"pid": 7, "context": "0x5500", "tensors": 2, "bytes": 16_640, "mapped_bytes": null, "own_bytes": null,
            "device_bytes": null, "unknown_bytes": null, "buffers": []}])
    );
    assert_eq!(json_of(dag::dag, &m)["graphs"][1]["nodes"][5]["memory"], Value::Null);
    assert!(text(terminal::terminal, &m).contains("weights: 16.2 KiB, location not recorded"));
}

/// One of each kind of fact.
fn facts(m: &mut Model) {
    let (cpu, process) = (FactScope::Cpu(0), FactScope::Process(7));
    for (scope, name, number) in [
        (FactScope::System, "memory.available", Some(1)),
        (cpu, "cpu.steal_ns", Some(1)),
        (process, "cgroup.quota_us", Some(1)),
        (process, "cgroup.period_us", Some(1)),
        (process, "environment.read", Some(1)),
        (process, "env.OMP_X", None),
        (FactScope::Thread(7), "run_ns", Some(1)),
    ] {
        let value = number.map_or(FactValue::Absent(Text::default()), FactValue::Number);
        m.facts.rows.push(Fact { at_ns: 1, scope, name: m.texts.intern(name), value });
    }
}

/// One row in each table of the scheduler level.
fn schedule(m: &mut Model) {
    let thread = m.spans.thread[0];
    let name = m.texts.intern("backup");
    let none = Text::default();
    m.sched = Sched {
        recorded: true,
        interrupts_recorded: true,
        states: ThreadStates {
            thread: vec![thread],
            start_ns: vec![1_000],
            duration_ns: vec![50],
            state: vec![ThreadState::Preempted],
            cpu: vec![0],
        },
        turns: Turns { cpu: vec![0], start_ns: vec![1_000], duration_ns: vec![50], task: vec![TaskId(0)] },
        interrupts: Interrupts {
            cpu: vec![0],
            start_ns: vec![1_000],
            duration_ns: vec![5],
            kind: vec![InterruptKind::Soft],
            name: vec![name],
        },
        cpu_use_recorded: true,
        cpu_use: CpuUse {
            cpu: vec![0],
            start_ns: vec![1_000],
            duration_ns: vec![50],
            task: vec![TaskId(0)],
            busy_ns: vec![20],
        },
        cpu_use_gaps: Vec::new(),
        tasks: vec![Task { tid: 9, pid: 9, name, command: none, cgroup: none }],
    };
}

/// A session with everything that can be written, and with names that try to break out.
pub(crate) fn everything() -> Model {
    let mut m = hostile();
    m.session.libraries.push(Library {
        pid: 7,
        path: String::new(),
        build_id: String::new(),
        roles: Vec::new(),
    });
    m.session.probes.push(Probe {
        pid: 7,
        level: None,
        what: String::new(),
        symbol: String::new(),
        library: String::new(),
        offset: 0,
        attached: true,
        note: String::new(),
    });
    m.session.counters.push(Counter {
        name: "CPU_CYCLES".to_owned(),
        event: 0x11,
        pmu: String::new(),
        cpus: vec![0],
        slot: 0,
        attached: true,
        note: String::new(),
    });
    // A call that does not return, in a group with known memory.
    let (at_ns, name) = (u64::MAX / 2, m.texts.intern("cgroup.memory.used"));
    m.facts
        .rows
        .insert(0, Fact { at_ns: 0, scope: FactScope::Process(7), name, value: FactValue::Number(1) });
    // And another process that the agent met late.
    m.endings.extend([EndingKind::CallOpen, EndingKind::Late].map(|kind| EndingRow {
        at_ns,
        kind,
        pid: 7,
        other: 0,
        status: None,
        signal: None,
        since_ns: 0,
        text: String::new(),
    }));
    let spans = m.spans.len();
    m.spans.counts = Counts {
        names: vec!["CPU_CYCLES".to_owned()],
        values: vec![vec![1; spans]],
        switches: vec![0; spans],
        why: vec![0; spans],
    };
    m.gauges.push(Gauge {
        name: String::new(),
        kind: GaugeKind::Ddr,
        unit: GaugeUnit::Bytes,
        source: String::new(),
        period_ns: 1,
        attached: true,
        note: String::new(),
        at_ns: vec![0, 1],
        values: vec![Some(0), Some(1)],
    });
    let (call, node, thread) = (m.spans.graph_call[0], m.spans.node[0], m.spans.thread[0]);
    m.nested_calls = NestedCalls {
        graph_call: vec![call],
        thread: vec![thread],
        node: vec![node],
        function: vec![Text::default()],
        backend: vec![Text::default()],
        depth: vec![0],
        start_ns: vec![m.spans.start_ns[0]],
        duration_ns: vec![1],
    };
    place(&mut m);
    let kinds = [CeilingKind::Read, CeilingKind::Int8, CeilingKind::F16, CeilingKind::F32];
    m.ceilings = kinds
        .map(|kind| Ceiling {
            kind,
            core: String::new(),
            cpus: vec![0, 1],
            how: String::new(),
            repeats: 1,
            median: 1,
            min: 1,
            max: 1,
            note: String::new(),
            points: Vec::new(),
            load: None,
            source: CeilingSource::Recording,
        })
        .into();
    facts(&mut m);
    schedule(&mut m);
    m.health.damage.push(Damage { kind: DamageKind::Gap, count: 1, bytes: 0, first_offset: 0 });
    m
}

#[test]
fn hostile_names_survive_json_unchanged() {
    let m = hostile();
    let d = json_of(dag::dag, &m);
    for (i, node) in m.topologies.rows[1].nodes.iter().enumerate() {
        assert_eq!(d["graphs"][1]["nodes"][i]["name"], m.texts.get(node.name));
        assert_eq!(d["graphs"][1]["nodes"][i]["dtype"], m.texts.get(node.dtype));
    }
}

#[test]
fn an_empty_session_has_all_views() {
    let m = Model::default();
    assert_eq!(json_of(summary::summary, &m)["operators"], json!([]));
    assert_eq!(json_of(dag::dag, &m)["graphs"], json!([]));
    assert!(text(dot::dot, &m).contains("digraph"));
    assert!(text(terminal::terminal, &m).contains("cut short"));
}

/// Runs Graphviz; `None` when it is not installed.
fn graphviz(args: &[&str], input: &str) -> Option<String> {
    let child = Command::new("dot")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(e) => {
            profinfer_skip::skip(format_args!("Graphviz cannot be run ({e}); install graphviz"));
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "dot: {errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn graphviz_draws_every_node_and_edge() {
    for m in [small::model(), hostile(), synthetic::model(&Spec { splits: 2, ..Spec::default() })] {
        let analysis = Analysis::compute(&m);
        let dot = text(dot::dot, &m);
        // Sources of the labels without layout, one graph after the other.
        let Some(json) = graphviz(&["-Tjson0"], &dot) else { return };
        let graphs: Vec<Value> =
            serde_json::Deserializer::from_str(&json).into_iter().collect::<Result<_, _>>().unwrap();
        assert_eq!(graphs.len(), analysis.dag.len());
        for (drawn, d) in graphs.iter().zip(&analysis.dag) {
            assert_eq!(drawn["objects"].as_array().unwrap().len(), d.nodes.len());
            let edges = drawn["edges"].as_array().unwrap();
            assert_eq!(edges.len(), d.edges.len());
            let fused = d.nodes.iter().filter(|n| n.fused_with.is_some()).count();
            assert_eq!(edges.iter().filter(|e| e["style"] == "dashed").count(), fused);
        }
    }
}

#[test]
fn graphviz_shows_names_as_they_are() {
    let Some(svg) = graphviz(&["-Tsvg"], &text(dot::dot, &hostile())) else { return };
    assert!(svg.contains("&quot;]; graph { \\N &amp;lt;"), "{svg}");
    assert!(svg.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
    assert!(svg.contains("é漢🦀"));
}

fn in_80_columns(m: &Model) -> String {
    let mut out = Vec::new();
    terminal::within(m, &Analysis::compute(m), 80, &mut out).unwrap();
    anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
}

/// Tables drop columns, and a note says how many tables did.
#[test]
fn a_narrow_terminal_says_what_is_not_there() {
    let narrow = in_80_columns(&routed::large());
    assert!(narrow.trim_end().ends_with("shortened to 80 columns"), "{narrow}");
    assert!(!text(terminal::terminal, &routed::large()).contains("shortened"));
}

#[test]
fn terminal_begins_with_what_was_recorded_and_health_and_fits() {
    let mut big = synthetic::model(&Spec { contexts: 3, requests: 5, threads: 12, ..Spec::default() });
    big.session.cpu_model = "A CPU with a rather long name ".repeat(5);
    let drafted = calls::model(&crate::speculative::calls(), true);
    let grown = calls::model(&crate::kv::calls(6), true);
    for m in [small::model(), hostile(), routed::small(), routed::large(), drafted, grown, big] {
        let narrow = in_80_columns(&m);
        let widest = narrow.lines().max_by_key(|l| l.chars().count()).unwrap();
        assert!(widest.chars().count() <= 80, "{} columns: {widest}", widest.chars().count());
        let coloured = text(terminal::terminal, &m);
        let plain = anstream::adapter::strip_str(&coloured).to_string();
        let health = &profinfer_views::words::health::lines(&Analysis::compute(&m).health)[0];
        let first = plain.lines().position(|l| l.starts_with(&format!("● {}", &health[..20])));
        assert!(first.is_some_and(|lines| lines <= 3), "{plain}");
        assert!(plain.lines().count() <= 80, "{plain}");
        let widest = plain.lines().max_by_key(|l| l.chars().count()).unwrap();
        assert!(widest.chars().count() <= 100, "{} columns: {widest}", widest.chars().count());
        assert!(plain.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{plain:?}");
    }
}

#[test]
fn terminal_says_whether_a_draft_wins_and_what_cells_cost() {
    let plain = |m: &Model| {
        let coloured = text(terminal::terminal, m);
        let plain = anstream::adapter::strip_str(&coloured).to_string();
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let drafted = plain(&calls::model(&crate::speculative::calls(), true));
    for words in [
        "speculative 5 rounds · 14 drafted, 50.0 % accepted · 2.25 tokens per round",
        "verifying 4 takes 110 ns · drafting a token takes 10 ns · inconclusive, because the target ran too few single tokens: a round costs at least 2.07 plain tokens",
        "warm-up 2 4",
    ] {
        assert!(drafted.contains(words), "{words}: {drafted}");
    }
    let grown = plain(&calls::model(&crate::kv::calls(6), true));
    assert!(grown.contains("1,000 more KV cells cost 2.0"), "{grown}");
    assert!(grown.contains("FLASH_ATTN_EXT 2.00 µs"), "{grown}");
    assert!(!grown.contains("identified by the number of tokens"), "{grown}");
    assert!(plain(&small::model()).contains("prefill: identified by the number of tokens alone"));
}

#[test]
fn terminal_shows_the_figures_of_the_routed_session() {
    let coloured = text(terminal::terminal, &routed::small());
    let plain = anstream::adapter::strip_str(&coloured).to_string();
    let line = |first: &str| {
        let table = plain.lines().skip_while(|l| !l.starts_with("experts")).skip(1);
        let mut lines = table.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.find(|l| l.starts_with(first)).unwrap_or_default()
    };
    // For three tokens in two layers; balances as in experts.rs; 0.7806 and 0.7028 relative to ln
    // 4.
    assert_eq!(line("prefill"), "prefill 2 5 of 8 5.0 615 B 61.5 % – – –");
    assert_eq!(line("decode"), "decode 2 6 of 8 4.0 492 B 74.2 % 66.7 % 1 2");
    assert_eq!(
        line("a token reads 492 B").split(';').next(),
        Some("a token reads 492 B of experts' weights")
    );
    assert!(!text(terminal::terminal, &small::model()).contains("expert"));
}

#[test]
fn terminal_shows_the_figures_of_the_small_session() {
    let coloured = text(terminal::terminal, &small::model());
    let plain = anstream::adapter::strip_str(&coloured).to_string();
    let has = |words: &[&str]| {
        let mut lines = plain.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
        assert!(lines.any(|l| l.windows(words.len()).any(|w| w == words)), "{words:?} not in\n{plain}");
    };
    has(&["prefill", "1", "3", "1.00", "µs"]);
    has(&["decode", "2", "2", "820", "ns"]);
    has(&["MUL_MAT", "235", "ns", "2", "117", "ns", "72.8", "%"]);
    has(&["101", "engine", "9", "800", "ns", "41", "ns", "95.1", "%"]);
}
