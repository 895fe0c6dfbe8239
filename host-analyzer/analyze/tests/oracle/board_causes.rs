//! Causes that only the emulated board can have: a quota of control groups of version 2, cores of
//! different speed, a limited clock and one that falls with heat; and its ceilings.
//!
//! `ci/board/promise.sh` makes the recordings, slows the CPUs down for real, and names the folder
//! in PROFINFER_BOARD_CAUSES.

use std::cell::Cell;
use std::path::PathBuf;

use profinfer_analysis::Analysis;
use profinfer_analysis::budget::Class;
use profinfer_analysis::fact::reading::Limit;
use profinfer_analysis::findings::{Finding, Findings, Value};
use profinfer_analysis::phase::Phase;
use profinfer_trace::model::{CeilingKind, Model};

use crate::promise::{find, findings, kept_by};
use crate::support::read;

fn folder() -> Option<PathBuf> {
    profinfer_skip::needed_path("PROFINFER_BOARD_CAUSES", "ci/board/promise.sh")
}

/// The recordings with one name, in order.
fn series(dir: &std::path::Path, name: &str) -> impl Fn() -> Model {
    let (dir, name, next) = (dir.to_owned(), name.to_owned(), Cell::new(1));
    move || {
        let number = next.replace(next.get() + 1);
        read(&dir.join(format!("{name}-{number}.pfi")))
    }
}

/// The evidence of a finding with this key.
fn shown(finding: &Finding, key: &str) -> Value {
    let found = finding.found.evidence.iter().find(|e| e.key == key);
    found.unwrap_or_else(|| panic!("no {key}: {finding:#?}")).value.clone()
}

fn need<'a>(findings: &'a Findings, code: &str) -> &'a Finding {
    find(findings, code).unwrap_or_else(|| panic!("{code} is not found: {findings:#?}"))
}

#[test]
#[ignore = "ci/board/promise.sh runs it"]
fn quota() {
    let Some(dir) = folder() else { return };
    kept_by("quota", &series(&dir, "quota-cause"), &series(&dir, "quota-remedy"));
    let model = series(&dir, "quota-cause")();
    let (analysis, found) = (Analysis::compute(&model), findings(&model));
    let finding = need(&found, "quota");
    assert_eq!(shown(finding, "quota"), Value::MilliCpus(500));
    let group = &analysis.conditions.processes[0].cgroup;
    assert_eq!(group.version.value(), Some(&2));
    assert_eq!(group.path.value().map(String::as_str), Some("/engine"));
    let quota = group.quota.value().and_then(Limit::get).unwrap();
    assert_eq!((quota.quota_us, quota.period_us, quota.milli_cpus), (25_000, 50_000, 500));
    let (throttled, periods) =
        (group.throttled_periods.value().unwrap().whole, group.periods.value().unwrap().whole);
    assert!(throttled > 10 && throttled <= periods, "{group:?}");
    assert!(group.throttled_ns.value().unwrap().whole > 100_000_000, "{group:?}");
    // The quota is the cause, not another process.
    let wall = &analysis.budget.phase(Phase::Decode).unwrap().wall;
    let (throttled, preempted) = (wall.get(Class::Throttled), wall.get(Class::Preempted));
    println!("throttled {} ms, preempted {} ms", throttled / 1_000_000, preempted / 1_000_000);
    assert!(throttled > 4 * preempted);
    assert!(find(&found, "preempted").is_none(), "{found:#?}");
}

#[test]
#[ignore = "ci/board/promise.sh runs it"]
fn cores() {
    let Some(dir) = folder() else { return };
    // The gain is not checked here: a slow CPU of the emulator delays the others where they
    // synchronize, so the fast one is slow while the slow one computes.
    // `promise::clocks::a_slow_core` checks the gain.
    let (cause, remedied) = (series(&dir, "cores-cause")(), series(&dir, "cores-remedy")());
    let (found, gone) = (findings(&cause), findings(&remedied));
    let finding = need(&found, "mixed_cores");
    assert!(find(&gone, "mixed_cores").is_none(), "{gone:#?}");
    let (before, after) = (found.headline.token_ns.unwrap(), gone.headline.token_ns.unwrap());
    println!("mixed_cores: promised {:?}, from {before} to {after} ns", finding.found.gain.unwrap());
    assert!(after + finding.found.gain.unwrap().low_ns <= before);
    assert_eq!(shown(finding, "fast_cpus"), Value::Cpus(vec![2]));
    assert_eq!(shown(finding, "cpus"), Value::Cpus(vec![1, 2]));
    assert_eq!(shown(finding, "slowest_to_fastest"), Value::Share(530.0 / 1024.0));
    // Cores that differ only in name are not a cause. Other load on this machine may take a CPU
    // from either, so check most of three.
    let even = series(&dir, "cores-even");
    let alarms = (0..3).filter(|_| find(&findings(&even()), "mixed_cores").is_some()).count();
    assert!(alarms < 2, "{alarms} of 3 without the difference");
}

#[test]
#[ignore = "ci/board/promise.sh runs it"]
fn clock() {
    let Some(dir) = folder() else { return };
    kept_by("clock_limit", &series(&dir, "clock-cause"), &series(&dir, "clock-remedy"));
    let found = findings(&series(&dir, "clock-cause")());
    let finding = need(&found, "clock_limit");
    assert_eq!(shown(finding, "clock_in_decode"), Value::Hertz(1_200_000_000));
    assert_eq!(shown(finding, "clock_limit"), Value::Hertz(1_200_000_000));
    assert_eq!(shown(finding, "highest_clock"), Value::Hertz(2_400_000_000));
    assert_eq!(shown(finding, "governor"), Value::Name("powersave".to_owned()));
}

#[test]
#[ignore = "ci/board/promise.sh runs it"]
fn heat() {
    let Some(dir) = folder() else { return };
    kept_by("heat", &series(&dir, "heat-cause"), &series(&dir, "heat-remedy"));
    let found = findings(&series(&dir, "heat-cause")());
    let finding = need(&found, "heat");
    assert_eq!(shown(finding, "clock_at_first"), Value::Hertz(2_400_000_000));
    assert_eq!(shown(finding, "clock_at_last"), Value::Hertz(1_200_000_000));
    assert_eq!(shown(finding, "temperature_at_last"), Value::Millidegrees(95_000));
}

/// Ceilings of every kind, with the instructions of the processor, and a ceilings file for a
/// session.
#[test]
#[ignore = "ci/board/promise.sh runs it"]
fn bench() {
    let Some(dir) = folder() else { return };
    for (cpu, int8) in [("cortex-a76", &["sdot"][..]), ("max", &["sdot", "smmla"])] {
        let told = read(&dir.join(format!("bench-{cpu}.pfi"))).ceilings;
        for kind in CeilingKind::ALL {
            assert!(told.iter().any(|c| c.kind == kind && c.measured() && c.min > 0), "{cpu}: {kind:?}");
        }
        // A loop with wrong results is not measured, and is reported.
        assert!(told.iter().all(|c| c.measured()), "{cpu}: {told:#?}");
        let how = |kind: CeilingKind| {
            let mut how: Vec<&str> = told.iter().filter(|c| c.kind == kind).map(|c| c.how.as_str()).collect();
            how.sort_unstable();
            how.dedup();
            how
        };
        assert_eq!(how(CeilingKind::Int8), int8, "{cpu}");
        assert_eq!(how(CeilingKind::F32), ["fmla 4s"], "{cpu}");
        assert_eq!(how(CeilingKind::F16), ["fcvtl, fmla 4s", "fmla 8h"], "{cpu}");
        let text = |ext: &str| std::fs::read_to_string(dir.join(format!("bench-{cpu}.{ext}"))).unwrap();
        let (table, progress) = (text("txt"), text("log"));
        assert!(table.contains("GB/s") && int8.iter().all(|how| table.contains(how)), "{table}");
        let last = format!("[{0}/{0}] ", told.len());
        assert!(progress.contains(&last), "{progress}");
        // `analyze --ceilings` used them.
        let summary: serde_json::Value =
            serde_json::from_slice(&std::fs::read(dir.join(format!("bench-{cpu}/summary.json"))).unwrap())
                .unwrap();
        assert_eq!(summary["ceilings"].as_array().unwrap().len(), told.len(), "{cpu}");
    }
}
