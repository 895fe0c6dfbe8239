//! Published versions and the current one: their recordings, and each with the other over a link.

use std::path::{Path, PathBuf};
use std::process::Command;

use profinfer_skip::needed_path;
use profinfer_trace::model::Model;

use crate::engine_list::{Call, Listed, parse};
use crate::engines::{CALLS, entries};
use crate::experts;
use crate::links::{Served, capture_by};
use crate::nodes::{backend_calls, check_calls, check_trace, list};
use crate::support::{Parts, parts, read};

const ANALYZE: &str = env!("CARGO_BIN_EXE_analyze");

/// Every node of every call as the engine listed it then, and nothing lost.
fn whole(trace: &Model, calls: &[Call], which: &Path) {
    assert!(trace.health.perfect(), "{}: {:?}", which.display(), trace.health);
    assert_eq!(calls.len(), CALLS, "{}", which.display());
    check_calls(trace, calls);
    for (decode, call) in calls.iter().enumerate() {
        let ours: Vec<Listed> =
            backend_calls(trace, decode).into_iter().flat_map(|g| list(trace, g)).collect();
        assert_eq!(ours, call.nodes, "{}, call {decode}", which.display());
    }
    let ledger = trace.health.ledger.unwrap();
    assert_eq!(trace.spans.len() as u64, ledger.spans_sent, "{}", which.display());
    assert!(trace.spans.len() > call_nodes(calls), "{}: two threads", which.display());
}

/// Nodes that do some work: views and similar nodes are not operators.
fn call_nodes(calls: &[Call]) -> usize {
    let views = ["VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE", "NONE"];
    calls.iter().flat_map(|c| &c.nodes).filter(|n| !views.contains(&n.op.as_str())).count()
}

/// Recordings of every published version are read with their meaning, and every view can be
/// written.
#[test]
fn recordings_of_every_published_version() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/published");
    let versions = entries(&folder);
    let table = include_str!("../../../../ci/compat/published.tsv");
    let known = table.lines().filter(|l| !l.starts_with('#'));
    assert_eq!(
        versions.len(),
        known.count(),
        "each version has its recordings, and each recording its version"
    );
    for version in versions {
        let mut traces = entries(&version);
        traces.retain(|t| t.extension().is_some_and(|e| e == "pfi"));
        assert!(!traces.is_empty(), "{}", version.display());
        for path in traces {
            let calls = parse(&std::fs::read_to_string(path.with_extension("txt")).unwrap());
            let trace = read(&path);
            whole(&trace, &calls, &path);
            if path.file_stem().is_some_and(|s| s.to_str().unwrap().starts_with("moe-")) {
                assert!(!experts::of_trace(&trace).is_empty(), "{}: experts", path.display());
            }
            let out = tempfile::tempdir().unwrap();
            let done = Command::new(ANALYZE).arg(&path).arg("--out").arg(out.path()).output().unwrap();
            assert!(done.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&done.stderr));
        }
    }
}

/// The last published version.
fn published() -> Option<PathBuf> {
    needed_path("PROFINFER_PUBLISHED", "ci/compat.sh")
}

const RUN: [&str; 5] = ["-n", "20", "--list", "-t", "2"];

#[test]
#[ignore = "ci/compat.sh runs it"]
fn with_the_agent_of_the_last_version() {
    let (Some(last), Some(now)) = (published(), parts()) else { return };
    let dir = tempfile::tempdir().unwrap();
    let before = Parts { agent: last.join("profinfer-agent"), models: now.models };
    let Some(served) = Served::start(&before, dir.path(), "tcp:127.0.0.1:0", &RUN) else { return };
    let source = format!("tcp:127.0.0.1:{}", served.port());
    let (trace, _) = capture_by(Path::new(ANALYZE), &source, dir.path(), &["--full"]);
    assert!(trace.health.damage.is_empty() && trace.health.skipped.is_empty(), "{:#?}", trace.health);
    check_trace(&trace, &parse(&served.list()), "yesterday's agent, today's analyze");
}

#[test]
#[ignore = "ci/compat.sh runs it"]
fn with_the_analyze_of_the_last_version() {
    let (Some(last), Some(now)) = (published(), parts()) else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(served) = Served::start(&now, dir.path(), "tcp:127.0.0.1:0", &RUN) else { return };
    let source = format!("tcp:127.0.0.1:{}", served.port());
    let (trace, _) = capture_by(&last.join("analyze"), &source, dir.path(), &[]);
    check_trace(&trace, &parse(&served.list()), "today's agent, yesterday's analyze");
    // The tables of the last version, which names unknown records.
    let summary = std::fs::read_to_string(dir.path().join("profile/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let health = &summary["health"];
    assert_eq!(health["spans"]["received"], trace.spans.len(), "{health}");
    assert_eq!(health["spans"]["unaccounted"], 0, "{health}");
    assert_eq!(summary["tokens"]["decode"]["calls"], 20, "{}", summary["tokens"]);
    let strange = health["damaged"].as_array().unwrap();
    assert!(strange.iter().all(|d| d["kind"] == "unknown record kind"), "{health}");
    assert_eq!(strange.is_empty(), health["perfect"].as_bool().unwrap(), "{health}");
}
