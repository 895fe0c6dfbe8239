//! Ceilings from end to end: measured before a real session, by a recording agent and for a host,
//! and read from a file.

use std::path::Path;
use std::process::{Command, Output};

use profinfer_trace::model::{CeilingKind, Doubt, Model};
use serde_json::Value;

use crate::links::Served;
use crate::support::{engine, model, parts, read, record};

fn analyze(dir: &Path, arguments: &[&str]) -> Output {
    let output =
        Command::new(env!("CARGO_BIN_EXE_analyze")).args(arguments).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn summary(dir: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join("profile/summary.json")).unwrap()).unwrap()
}

fn check(trace: &Model) {
    assert!(trace.health.perfect(), "{:?}", trace.health);
    assert!(!trace.spans.is_empty(), "the session itself is there");
    for kind in CeilingKind::ALL {
        let several = trace.session.cpus > 1 || kind != CeilingKind::Barrier;
        assert!(trace.ceilings.iter().any(|c| c.kind == kind) || !several, "{kind:?}");
    }
    let read = trace.ceilings.iter().find(|c| c.kind == CeilingKind::Read).unwrap();
    assert!(read.measured() && read.min > 0, "{read:?}");
    // Whatever caches this machine has or reports, only its load makes figures doubtful.
    assert!(read.points.len() > 1 && read.points.iter().all(|p| p.min > 0), "{read:?}");
    let doubts = trace.ceilings.iter().flat_map(|c| &c.points).flat_map(|p| &p.doubts);
    assert!(doubts.clone().all(|d| *d == Doubt::Unstable), "{:?}", trace.ceilings);
}

#[test]
fn a_recording_has_them_and_a_host_asks_for_them() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let (trace, output) = record(&parts, &["--bench"], &[driver.to_str().unwrap(), "-m", &gguf, "-n", "2"]);
    check(&trace);
    // The measured memory is not that of the session.
    assert!(trace.health.end.as_ref().unwrap().agent_rss_bytes < 64 << 20, "{:?}", trace.health.end);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("measuring the ceilings") && !said.contains("already running"), "{said}");

    let dir = tempfile::tempdir().unwrap();
    let Some(mut served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &["-n", "2"]) else { return };
    let address = format!("tcp:127.0.0.1:{}", served.port());
    let output = analyze(dir.path(), &["--bench", &address]);
    served.agent.wait().unwrap();
    let asked = read(&dir.path().join("profile/recording.pfi"));
    check(&asked);
    assert!(String::from_utf8_lossy(&output.stdout).contains("GB/s"));
    let rows = summary(dir.path())["ceilings"].as_array().unwrap().len();
    assert_eq!(rows, asked.ceilings.len());
}

#[test]
fn a_file_wins_over_the_stream() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("board.pfi");
    let bench = |out: &Path| {
        let status = Command::new(&parts.agent)
            .args(["bench", "--threads", "1", "--budget", "0.2", "--out"])
            .arg(out)
            .output()
            .unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        read(out).ceilings
    };
    let first = bench(&out);
    let other = dir.path().join("other.pfi");
    let second = bench(&other);
    assert_ne!(first, second, "two measurements are never equal");
    let shown = |output: &Output| {
        let rows = summary(dir.path())["ceilings"].as_array().unwrap().clone();
        let medians: Vec<u64> = rows.iter().filter_map(|r| r["median"].as_u64()).collect();
        (medians, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let medians = |ceilings: &[profinfer_trace::model::Ceiling]| {
        ceilings.iter().filter(|c| c.measured()).map(|c| c.median).collect::<Vec<_>>()
    };
    let (got, said) = shown(&analyze(dir.path(), &["board.pfi"]));
    assert_eq!((got, said.contains("ceilings:")), (medians(&first), false));
    let (got, said) = shown(&analyze(dir.path(), &["--ceilings", "other.pfi", "board.pfi"]));
    assert_eq!(got, medians(&second));
    assert!(said.contains("using those of other.pfi instead of those of the stream"), "{said}");
}

/// A bench of its own serves a later recording of a real engine on this machine.
#[test]
fn a_later_recording_uses_them() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("board.pfi");
    let bench =
        Command::new(&parts.agent).args(["bench", "--budget", "1", "--out"]).arg(&out).output().unwrap();
    assert!(bench.status.success(), "{}", String::from_utf8_lossy(&bench.stderr));
    let board = read(&out);
    let measured = &board.ceilings;
    // The kernel tells who held the CPUs, and it was never the agent itself.
    for c in measured.iter().filter(|c| c.measured()) {
        let load = c.load.as_ref().unwrap();
        assert!(load.wall_ns > 0 && Some(load.pid) != board.session.agent_pid, "{c:?}");
    }
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let trace = dir.path().join("trace.pfi");
    let mut agent = Command::new(&parts.agent);
    agent
        .args(["record", "--full", "--out"])
        .arg(&trace)
        .arg("--")
        .arg(driver)
        .args(["-m", &gguf, "-n", "2"]);
    assert!(agent.output().unwrap().status.success());
    let analyze = |source: &Path| {
        let mut analyze = Command::new(env!("CARGO_BIN_EXE_analyze"));
        analyze.env("PROFINFER_CEILINGS", dir.path().join("kept")).arg(source).current_dir(dir.path());
        let output = analyze.output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    };
    analyze(&out);
    analyze(&trace);
    let rows = summary(dir.path())["ceilings"].as_array().unwrap().clone();
    // Curves whose largest working set is doubtful are not kept: another program may have had a CPU.
    let kept = measured.iter().filter(|c| c.usable() && c.doubts().is_empty()).count();
    assert!(kept > 0);
    assert_eq!(rows.len(), kept);
    assert!(
        rows.iter().all(|row| row["source"] == "kept" && row["kept_unix_ns"].as_u64() > Some(0)),
        "{rows:?}"
    );
}
