//! Runs the programs, and makes summaries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use profinfer_schema::{
    Confidence, CpuBackend, Engine, Finding, Operator, Phase, Process, Remedy, SCHEMA, Source, Summary,
};
use serde_json::Value;

pub(crate) const FLEET: &str = env!("CARGO_BIN_EXE_analyze-fleet");

pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(FLEET).args(arguments).output().unwrap()
}

/// The output of a run that must succeed.
pub(crate) fn said(arguments: &[&str]) -> String {
    let output = run(arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    out.into_owned()
}

/// Numbers of sources: added, present before, failed.
pub(crate) fn counts(output: &[u8]) -> [u64; 3] {
    let object: Value = serde_json::from_slice(output).unwrap();
    ["added", "present", "failed"].map(|key| object[key].as_u64().unwrap())
}

pub(crate) fn add(sources: &[PathBuf], to: &Path, options: &[&str]) -> [u64; 3] {
    let sources = sources.iter().map(|p| p.to_str().unwrap());
    let all: Vec<&str> = ["add"]
        .into_iter()
        .chain(sources)
        .chain(["--to", to.to_str().unwrap(), "--format", "json"])
        .chain(options.iter().copied())
        .collect();
    counts(said(&all).as_bytes())
}

/// The rows of an answer.
pub(crate) fn rows(place: &Path, query: &str) -> Vec<Value> {
    let answer = said(&["sql", query, "--in", place.to_str().unwrap(), "--format", "json"]);
    serde_json::from_str(&answer).unwrap()
}

/// The one value of an answer.
pub(crate) fn one(place: &Path, query: &str) -> Value {
    let rows = rows(place, query);
    assert_eq!(rows.len(), 1, "{query}");
    rows[0].as_object().unwrap().values().next().unwrap().clone()
}

/// The recordings of the tests with their summaries. `None` if `analyze` is not built, and the test
/// is skipped.
pub(crate) fn real() -> Option<&'static [(PathBuf, Value)]> {
    static REAL: OnceLock<Vec<(PathBuf, Value)>> = OnceLock::new();
    let analyze = Path::new(FLEET).with_file_name("analyze");
    if !analyze.is_file() {
        profinfer_skip::skip("`analyze` is not built beside analyze-fleet; ci/fleet/test.sh builds both");
        return None;
    }
    Some(REAL.get_or_init(|| {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-analyzer/tests/data");
        let mut recordings = vec![data.join("demo.pfi")];
        for folder in fs::read_dir(data.join("published")).unwrap() {
            let files = fs::read_dir(folder.unwrap().path()).unwrap().map(|f| f.unwrap().path());
            recordings.extend(files.filter(|f| f.extension().is_some_and(|e| e == "pfi")));
        }
        recordings.sort();
        let summary = |recording: PathBuf| {
            let folder = tempfile::tempdir().unwrap();
            let options = ["--only", "summary.json", "--out", folder.path().to_str().unwrap()];
            assert!(Command::new(&analyze).args(options).arg(&recording).output().unwrap().status.success());
            let bytes = fs::read(folder.path().join("summary.json")).unwrap();
            (recording, serde_json::from_slice(&bytes).unwrap())
        };
        recordings.into_iter().map(summary).collect()
    }))
}

/// A summary with the fields that the queries read.
pub(crate) fn made(board: &str, build: u32, when: i64, tokens_per_s: f64) -> Value {
    let start = 1_790_000_000_000_000_000_i64 + when * 86_400_000_000_000;
    let operator = |name: &str, op: &str, wall_ns: i64| Operator {
        phase: Phase::Decode,
        name: name.to_owned(),
        op: op.to_owned(),
        executions: 3,
        wall_ns: wall_ns.unsigned_abs(),
        ..Operator::default()
    };
    let mut summary = Summary { schema: SCHEMA, ..Summary::default() };
    summary.session.board = board.to_owned();
    summary.session.cpu_model = "A55".to_owned();
    summary.session.start_unix_ns = start.unsigned_abs();
    let command = "llama-cli -m /m/tiny.gguf -t 4".to_owned();
    summary.session.processes.push(Process { pid: 7, command, ..Process::default() });
    summary.engines.push(Engine {
        pid: 7,
        name: "llama-cli".to_owned(),
        version: format!("b{build}"),
        cpu_backend: Some(CpuBackend::Library),
        ..Engine::default()
    });
    let headline = &mut summary.findings.headline;
    (headline.threads, headline.tokens, headline.tokens_per_s) = (4, 100, Some(tokens_per_s));
    summary.findings.found.push(Finding {
        code: "mbu_low".to_owned(),
        title: String::new(),
        sentence: String::new(),
        observed: String::new(),
        action: String::new(),
        gain: None,
        effects: Vec::new(),
        confidence: Confidence::Low,
        remedy: Remedy::Cooling,
        evidence: Vec::new(),
    });
    let (role, dtype) = ("weight".to_owned(), "q8_0".to_owned());
    let source = Source { name: "a.weight".to_owned(), dtype, ne: [4, 4, 1, 1], role };
    let product = Operator { src: vec![source], ..operator("a", "MUL_MAT", 1000 + when) };
    summary.operators = vec![product, operator("b", "ADD", 10)];
    summary.cost.stream_bytes = 1000;
    serde_json::to_value(summary).unwrap()
}

/// Folders like those that `analyze` writes.
pub(crate) fn folders(under: &Path, summaries: &[Value]) -> Vec<PathBuf> {
    let folder = |(i, summary): (usize, &Value)| {
        let folder = under.join(format!("{i:04}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("summary.json"), summary.to_string()).unwrap();
        folder
    };
    summaries.iter().enumerate().map(folder).collect()
}

/// All files in a folder with their bytes, sorted.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                open.push(entry)
            } else {
                files.push((entry.clone(), fs::read(entry).unwrap()))
            }
        }
    }
    files.sort();
    files
}
