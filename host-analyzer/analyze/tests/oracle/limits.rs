//! Control groups that change while an engine computes: one is frozen, or the engine is moved to one with a quota.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Findings, Value};
use profinfer_analysis::replay::{CallReplay, Cause};
use profinfer_trace::model::Model;

use crate::group::Group;
use crate::support::{engine, model, parts, read, signal, started};

/// A recording of an engine that computes for two seconds, then meets `change`, and goes on for two.
fn recorded(change: impl FnOnce(u32)) -> Option<Model> {
    let (parts, bin) = (parts()?, engine("PROFINFER_ENGINE_DIR")?);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let mut agent = Command::new(&parts.agent);
    agent.args(["record", "--full", "--out"]).arg(&out).arg("--").arg(bin.join("nodes"));
    agent.args([
        "-m",
        &model(&parts, "dense-q8"),
        "-t",
        "1",
        "-p",
        "5",
        "-n",
        "100",
        "-r",
        "100000",
        "--fresh",
    ]);
    let (mut agent, engine) = started(&mut agent, &out, 20_000);
    std::thread::sleep(Duration::from_secs(2));
    change(engine.pid());
    std::thread::sleep(Duration::from_secs(2));
    signal(agent.id(), Signal::SIGINT);
    assert!(agent.wait().unwrap().success());
    Some(read(Path::new(&out)))
}

fn moved_to(group: &Group, pid: u32) {
    std::fs::write(group.file(), pid.to_string()).unwrap();
}

/// What a finding states.
fn evidence(trace: &Model, analysis: &Analysis, code: &str, key: &str) -> Option<Value> {
    let findings = Findings::compute(trace, analysis);
    let all = findings.found.iter().filter(|f| f.rule.code == code).flat_map(|f| &f.found.evidence);
    all.filter(|e| e.key == key).map(|e| e.value.clone()).next()
}

#[test]
fn a_frozen_group_is_a_stop_of_its_length() {
    let Some(group) = Group::new("freezer", &[]) else { return };
    let mut length = Duration::ZERO;
    let trace = recorded(|pid| {
        moved_to(&group, pid);
        let begun = Instant::now();
        group.set("freezer.state", "FROZEN");
        std::thread::sleep(Duration::from_millis(1_600));
        group.set("freezer.state", "THAWED");
        length = begun.elapsed();
    });
    let Some(trace) = trace else { return };
    let analysis = Analysis::compute(&trace);
    let sum = |rows: &[CallReplay]| rows.iter().map(|c| c.caused.get(Cause::Stopped)).sum::<u64>();
    // A call that generates a token has the time before it, too.
    let stopped = sum(&analysis.replay.calls).max(sum(&analysis.replay.gaps));
    let off = Duration::from_nanos(stopped).abs_diff(length);
    assert!(off < Duration::from_millis(200), "{stopped} ns of {length:?}");
    let at = evidence(&trace, &analysis, "stopped", "frozen_at");
    assert!(matches!(at, Some(Value::Nanoseconds(_))), "{at:?}");
}

#[test]
fn an_engine_is_moved_to_a_group_with_a_quota() {
    let limits = [("cpu.cfs_period_us", "50000".to_owned()), ("cpu.cfs_quota_us", "10000".to_owned())];
    let Some(group) = Group::new("cpu", &limits) else { return };
    let Some(trace) = recorded(|pid| moved_to(&group, pid)) else { return };
    let analysis = Analysis::compute(&trace);
    let of = |key| evidence(&trace, &analysis, "regimes", key);
    assert_eq!(of("changed"), Some(Value::Name("cgroup.quota_us".to_owned())));
    assert_eq!(of("value_after"), Some(Value::MilliCpus(200)));
    // The counters of the group before do not belong to this one.
    let process = &analysis.conditions.processes[0];
    let (throttled, kernel) =
        (process.cgroup.throttled_periods.value().unwrap().whole, group.read("cpu.stat"));
    let all = kernel.lines().find_map(|line| line.strip_prefix("nr_throttled ")).unwrap();
    assert!(throttled > 0 && throttled <= all.parse().unwrap(), "{throttled} of {kernel}");
}
