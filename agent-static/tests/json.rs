//! `--format json` of each command: exactly one object on standard output, read into types that
//! know every field.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::process::{Command, Output};

use profinfer_skip::{needed_path, skip};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    schema: u32,
    error: Diagnostic,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Diagnostic {
    tried: String,
    answer: String,
    help: String,
}

fn agent(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_profinfer-agent")).args(arguments).output().unwrap()
}

/// The object that a command printed, which must be its only output.
fn object<T: DeserializeOwned>(run: &Output) -> T {
    let text = str::from_utf8(&run.stdout).unwrap();
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn failed(run: &Output) -> Diagnostic {
    assert_eq!(run.status.code(), Some(1));
    let Failed { schema, error } = object(run);
    assert_eq!(schema, 1);
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(
        stderr.contains(&error.answer) && stderr.contains(&error.help),
        "also on standard error: {stderr}"
    );
    error
}

fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        skip("it needs root, to load BPF programs");
    }
    root
}

#[test]
fn an_error_is_an_object_with_its_three_parts() {
    let error = failed(&agent(&["engine", "--format", "json", "/nowhere/at-all"]));
    assert_eq!(error.tried, "reading /nowhere/at-all");
    assert!(!error.answer.is_empty() && !error.help.is_empty());
    let error = failed(&agent(&["record", "--format", "json", "--out", "/nowhere/t.pfi", "--pid", "1"]));
    assert_eq!(error.tried, "writing /nowhere/t.pfi");
    let error = failed(&agent(&["record", "--format", "json", "--out", "-", "--", "true"]));
    assert_eq!(error.tried, "starting the recording");
    assert!(error.help.contains("--out FILE"));
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Engine {
    schema: u32,
    complete: bool,
    version: Option<String>,
    levels: Vec<Level>,
    files: Vec<File>,
    missing: Vec<Missing>,
    layout: Option<Layout>,
    layout_text: String,
    tables: Tables,
    remarks: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    level: String,
    traced: bool,
    ways: Vec<Way>,
    without: Vec<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Way {
    Functions {
        symbols: Vec<String>,
    },
    OperatorFunctions {
        symbols: Vec<String>,
    },
    Structure,
    Calls {
        symbol: String,
        fused: usize,
    },
    Backend {
        backend: String,
        #[expect(dead_code, reason = "it may be either")]
        whole: bool,
        symbol: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    machine: String,
    build_id: Option<String>,
    roles: Vec<String>,
    probes: Vec<Probe>,
    direct: Option<Direct>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Probe {
    level: String,
    what: String,
    offset: String,
    returns: bool,
    symbol: String,
    mnemonic: String,
    #[expect(dead_code, reason = "it may be either")]
    emulated: bool,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Direct {
    places: Vec<Place>,
    #[expect(dead_code, reason = "it may be either")]
    has_phase: bool,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    role: String,
    offset: String,
    bytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Missing {
    level: String,
    what: String,
    symbol: String,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    releases: String,
    fields: Vec<Field>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    field: String,
    offset_bytes: u32,
    accessor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    operators: Vec<String>,
    unary: Vec<String>,
    #[expect(dead_code, reason = "old engines have none")]
    glu: Vec<String>,
    types: Vec<Type>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Type {
    number: u32,
    name: String,
    block_elements: u32,
    block_bytes: u32,
}

fn is_hex(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok())
}

/// Properties of every answer.
fn checked(engine: &Engine) {
    assert_eq!(engine.schema, 1);
    assert_eq!(
        engine.levels.iter().map(|l| l.level.as_str()).collect::<Vec<_>>(),
        ["token", "graph", "operator"]
    );
    assert_eq!(engine.complete, engine.levels.iter().all(|l| l.traced));
    for level in &engine.levels {
        assert_eq!(level.traced, !level.ways.is_empty(), "{level:?}");
        assert!(!level.text.is_empty() && level.without.iter().all(|symbol| !symbol.is_empty()));
    }
    for m in &engine.missing {
        assert!(
            !m.symbol.is_empty() && !m.text.is_empty() && !m.what.is_empty() && !m.level.is_empty(),
            "{m:?}"
        );
    }
    assert_eq!(engine.layout.is_none(), engine.layout.as_ref().is_none_or(|l| l.fields.is_empty()));
    assert!(!engine.layout_text.is_empty());
}

#[test]
fn files_that_are_not_engines() {
    let own = env!("CARGO_BIN_EXE_profinfer-agent");
    let run = agent(&["engine", "--format", "json", own]);
    assert_eq!(run.status.code(), Some(1), "no level can be traced");
    let engine: Engine = object(&run);
    checked(&engine);
    assert!(!engine.complete && engine.version.is_none() && engine.remarks.is_empty());
    assert!(engine.levels.iter().all(|l| !l.traced) && engine.layout.is_none());
    let [file] = &engine.files[..] else { panic!("{engine:?}") };
    assert_eq!(file.path, own);
    assert_eq!(file.machine, if cfg!(target_arch = "aarch64") { "arm64" } else { "x86-64" });
    assert!(file.roles.is_empty() && file.probes.is_empty() && file.direct.is_none());
    // A script is refused with a remark.
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("run.sh");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    let engine: Engine = object(&agent(&["engine", "--format", "json", script.to_str().unwrap()]));
    checked(&engine);
    assert!(engine.files.is_empty() && engine.remarks.len() == 1, "{engine:?}");
}

#[test]
fn an_engine() {
    let Some(bin) = needed_path("PROFINFER_ENGINE_DIR", "scripts/test.sh") else { return };
    let exe = bin.join("../exe");
    let folder = if exe.is_dir() { exe } else { bin };
    let run = agent(&["engine", "--format", "json", folder.to_str().unwrap()]);
    let engine: Engine = object(&run);
    checked(&engine);
    assert_eq!(run.status.code(), Some(i32::from(!engine.complete)));
    assert!(engine.files.iter().any(|f| !f.roles.is_empty()), "no part of an engine in {}", folder.display());
    for file in &engine.files {
        assert!(Path::new(&file.path).exists());
        let id = file.build_id.as_deref().unwrap_or("0");
        assert!(!id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        for p in &file.probes {
            assert!(is_hex(&p.offset) && !p.mnemonic.is_empty() && !p.text.is_empty(), "{p:?}");
            assert!(!p.symbol.is_empty() && !p.level.is_empty(), "{p:?}");
            assert_eq!(
                p.returns,
                [
                    "token_call",
                    "scheduler_graph",
                    "cpu_graph",
                    "operator_function",
                    "backend_operator",
                    "nested_call"
                ]
                .contains(&p.what.as_str()),
                "{p:?}"
            );
        }
        for d in file.direct.iter() {
            let known = |p: &Place| ["start", "fused_start", "end", "whole_call"].contains(&p.role.as_str());
            assert!(d.places.iter().all(|p| known(p) && is_hex(&p.offset) && p.bytes > 0), "{d:?}");
            assert!(!d.places.is_empty() || d.text.starts_with("none: "), "{d:?}");
        }
    }
    let ways = engine.levels.iter().flat_map(|l| &l.ways);
    for way in ways {
        match way {
            Way::Functions { symbols } | Way::OperatorFunctions { symbols } => assert!(!symbols.is_empty()),
            Way::Calls { symbol, fused } => assert!(!symbol.is_empty() && *fused < 100),
            Way::Backend { backend, symbol, .. } => assert!(!backend.is_empty() && !symbol.is_empty()),
            Way::Structure => {}
        }
    }
    if let Some(layout) = &engine.layout {
        let name = layout.fields.iter().find(|f| f.field == "name").unwrap();
        assert!(
            name.accessor.is_some() && name.offset_bytes > 0 && !layout.releases.is_empty(),
            "{layout:?}"
        );
        assert!(engine.tables.operators.iter().any(|op| op == "MUL_MAT") && !engine.tables.unary.is_empty());
        let f32s = engine.tables.types.iter().find(|t| t.name == "f32").unwrap();
        assert_eq!((f32s.number, f32s.block_elements, f32s.block_bytes), (0, 1, 4));
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    schema: u32,
    recording: String,
    reason: String,
    exit_status: i32,
    program_status: Option<i32>,
    spans_sent: u64,
    spans_lost: u64,
    loss: std::collections::BTreeMap<String, u64>,
    frames: u32,
    wall_ns: u64,
    rss_bytes: u64,
    cpu_ns: u64,
    #[expect(dead_code, reason = "0 where the kernel does not measure it")]
    bpf_run_ns: u64,
    #[expect(dead_code, reason = "0 where the kernel does not measure it")]
    bpf_runs: u64,
    nothing_traced: Option<Nothing>,
    error: Option<Diagnostic>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {
    code: String,
    pid: Option<u32>,
    text: String,
    children: Vec<Untraced>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields that exist")]
struct Untraced {
    pid: u32,
    name: String,
    command: String,
}

fn record(out: &Path, more: &[&str]) -> (Recorded, Output) {
    let mut arguments = vec!["record", "--format", "json", "--out", out.to_str().unwrap()];
    arguments.extend(more);
    let run = agent(&arguments);
    let recorded: Recorded = object(&run);
    assert_eq!(recorded.schema, 1);
    assert_eq!(recorded.recording, out.to_str().unwrap());
    assert_eq!(run.status.code(), Some(recorded.exit_status));
    let lost = ["spans_ring_full", "spans_queue_full", "spans_no_graph"].map(|name| recorded.loss[name]);
    assert_eq!(recorded.spans_lost, lost.iter().sum::<u64>());
    assert_eq!(recorded.spans_sent, recorded.loss["spans_sent"]);
    assert!(recorded.frames > 0 && recorded.wall_ns > 0 && recorded.cpu_ns > 0);
    assert!((1 << 20..1 << 28).contains(&recorded.rss_bytes), "{recorded:?}");
    (recorded, run)
}

#[test]
fn a_recording_of_a_program_that_is_not_an_engine() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (recorded, run) =
        record(&dir.path().join("t.pfi"), &["--", "sh", "-c", "echo written by the program; exit 7"]);
    assert!(
        String::from_utf8_lossy(&run.stderr).contains("written by the program"),
        "standard output is reserved for the object"
    );
    assert_eq!(
        (recorded.reason.as_str(), recorded.exit_status, recorded.program_status),
        ("engine_ended", 7, Some(7))
    );
    assert_eq!(recorded.spans_sent, 0);
    let nothing = recorded.nothing_traced.unwrap();
    assert_eq!(nothing.code, "engine_failed");
    assert!(nothing.pid.is_some() && nothing.text.contains('7'), "{nothing:?}");
    assert!(nothing.children.is_empty());
    let error = recorded.error.unwrap();
    assert!(error.tried.contains("sh") && !error.answer.is_empty() && !error.help.is_empty());
}

#[test]
fn a_recording_of_an_engine() {
    let Some(bin) = needed_path("PROFINFER_ENGINE_DIR", "scripts/test.sh") else { return };
    let Some(models) = needed_path("PROFINFER_MODELS_DIR", "scripts/test.sh") else { return };
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (nodes, model) = (bin.join("nodes"), models.join("dense-q8.gguf"));
    let engine = [nodes.to_str().unwrap(), "-m", model.to_str().unwrap(), "-t", "2", "-p", "5", "-n", "3"];
    let (recorded, _) = record(&dir.path().join("t.pfi"), &[&["--"], &engine[..]].concat());
    assert_eq!(
        (recorded.reason.as_str(), recorded.exit_status, recorded.program_status),
        ("engine_ended", 0, Some(0))
    );
    assert!(recorded.spans_sent > 0 && recorded.nothing_traced.is_none() && recorded.error.is_none());
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Doctor {
    schema: u32,
    works: bool,
    probes: bool,
    operators: Option<bool>,
    probe_pair_ns: Option<u64>,
    sections: Vec<Section>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    verdict: Verdict,
    text: String,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Yes,
    No,
    Info,
}

#[test]
fn findings_of_the_doctor() {
    let run = agent(&["doctor", "--format", "json", "--name", "no-such-engine-anywhere"]);
    let found: Doctor = object(&run);
    assert_eq!((found.schema, found.operators), (1, None));
    assert_eq!(found.works, found.probes, "no engine runs");
    assert_eq!(run.status.code(), Some(i32::from(!found.works)));
    let names: Vec<&str> = found.sections.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["kernel", "permissions", "counters", "engine", "what will be traced"]);
    let rows = || found.sections.iter().flat_map(|s| &s.rows);
    assert!(rows().all(|r| !r.name.is_empty() && !r.name.starts_with(' ')));
    let row = |name: &str| rows().find(|r| r.name == name).unwrap();
    assert!(row("release").verdict == Verdict::Info && row("release").text.starts_with("Linux "));
    assert_eq!(row("engines").verdict, if found.probes { Verdict::Yes } else { Verdict::No });
    assert!(!found.probes || found.probe_pair_ns.is_some_and(|ns| ns > 0));
    assert!(nix::unistd::geteuid().is_root() || !found.probes);
}

#[cfg(feature = "bench")]
mod ceilings {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Benched {
        schema: u32,
        complete: bool,
        ceilings: Vec<Ceiling>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Ceiling {
        kind: String,
        unit: String,
        #[expect(dead_code, reason = "the type may be unknown")]
        core: String,
        threads: usize,
        cpus: Vec<u32>,
        how: String,
        points: Vec<Point>,
        end: Option<String>,
        note: String,
        load: Option<Load>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Load {
        wall_ns: u64,
        others_ns: u64,
        pid: u32,
        name: String,
        pid_ns: u64,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Point {
        working_set_bytes: Option<u64>,
        repeats: u32,
        median: u64,
        min: u64,
        max: u64,
        doubts: Vec<String>,
    }

    #[test]
    fn ceilings_of_the_board() {
        let run = agent(&["bench", "--format", "json", "--threads", "1", "--budget", "0.3"]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let found: Benched = object(&run);
        assert!(found.schema == 1 && found.complete);
        for kind in ["read", "copy", "f32", "wake-up"] {
            assert!(found.ceilings.iter().any(|c| c.kind == kind), "no {kind}");
        }
        for c in &found.ceilings {
            let unit = match c.kind.as_str() {
                "read" | "copy" => "bytes_per_s",
                "int8" | "f32" | "f16" => "ops_per_s",
                _ => "ns",
            };
            assert!(
                c.unit == unit && c.threads == c.cpus.len() && c.threads > 0 && !c.how.is_empty(),
                "{c:?}"
            );
            assert!(if c.points.is_empty() { !c.note.is_empty() } else { !c.how.is_empty() }, "{c:?}");
            assert_eq!(c.end.is_some(), c.kind == "read" && !c.points.is_empty(), "{c:?}");
            assert_eq!(c.load.is_some(), !c.points.is_empty(), "{c:?}");
            if let Some(l) = &c.load {
                // Of at most 1024 CPUs.
                assert!(l.wall_ns > 0 && l.others_ns < l.wall_ns.saturating_mul(1024).max(1 << 30), "{c:?}");
                assert_eq!((l.pid == 0, l.name.is_empty()), (l.pid_ns == 0, l.pid == 0), "{c:?}");
            }
            for p in &c.points {
                assert!(p.repeats > 0 && 0 < p.min && p.min <= p.median && p.median <= p.max, "{c:?}");
                assert_eq!(
                    p.working_set_bytes.is_some(),
                    ["read", "copy"].contains(&c.kind.as_str()),
                    "{c:?}"
                );
                assert!(p.doubts.iter().all(|d| d == "unstable" || d == "engine_ran"), "{c:?}");
            }
        }
    }
}
