//! The command `bench` as a user runs it, in a fraction of its time: its output, its file, and what
//! the host reads.
#![cfg(feature = "bench")]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::process::{Command, Output};

use profinfer_agent::observe::bench::ceiling::Ceiling;
use profinfer_agent::observe::bench::{Options, cpus};
use profinfer_agent::session::ceiling;
use profinfer_agent::sys::bench::{Numbers, arithmetic};
use profinfer_trace::model::{CeilingKind, CurveEnd, Doubt, Model};
use profinfer_wire::record::ceiling::doubt;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_profinfer-agent")).arg("bench").args(arguments).output().unwrap()
}

fn read(path: &Path) -> Model {
    profinfer_trace::read(&std::fs::read(path).unwrap()).unwrap()
}

fn own() -> Vec<u32> {
    cpus::chosen(None, Path::new("/sys")).unwrap()
}

#[test]
fn a_short_run_measures_everything() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ceilings.pfi");
    let cpus = own().iter().take(2).map(u32::to_string).collect::<Vec<_>>();
    let run = bench(&["--cpus", &cpus.join(","), "--budget", "0.3", "--out", file.to_str().unwrap()]);
    let (table, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success(), "{stderr}");
    let model = read(&file);
    assert!(model.health.damage.is_empty() && model.health.end.is_some());
    assert!(!model.session.kernel.is_empty() && model.session.processes.is_empty());
    for kind in CeilingKind::ALL {
        let of_kind: Vec<_> = model.ceilings.iter().filter(|c| c.kind == kind).collect();
        let needed = kind != CeilingKind::Barrier || cpus.len() > 1;
        assert!(!of_kind.is_empty() || !needed, "{kind:?}: {table}");
        for c in of_kind {
            let here = format!("{c:?}");
            assert!(c.cpus.iter().all(|cpu| cpus.contains(&cpu.to_string())) && !c.cpus.is_empty(), "{here}");
            if c.measured() {
                assert!(c.repeats >= 5 && 0 < c.min && c.min <= c.median && c.median <= c.max, "{here}");
                // From a toy on an emulator to a server: 1 MB/s to 100 TB/s, 1 MOP/s to 1000 TOP/s,
                // 1 ns to 10 s.
                assert!((1..1_000_000_000_000_000).contains(&c.max), "{here}");
                assert!(!c.how.is_empty(), "{here}");
                // The ceiling is the last of its points.
                let last = c.points.last().unwrap();
                assert_eq!(
                    (c.repeats, c.min, c.median, c.max),
                    (last.repeats, last.min, last.median, last.max)
                );
                let memory = matches!(kind, CeilingKind::Read | CeilingKind::Copy);
                assert!(c.points.iter().all(|p| (p.working_set_bytes > 0) == memory), "{here}");
                assert!(c.points.is_sorted_by(|a, b| a.working_set_bytes < b.working_set_bytes), "{here}");
                assert_eq!(last.end != CurveEnd::Open, kind == CeilingKind::Read, "{here}");
                let only_unstable = |p: &profinfer_trace::model::CeilingPoint| {
                    p.doubts.iter().all(|d| *d == Doubt::Unstable && kind == CeilingKind::Read)
                };
                assert!(c.points.iter().all(only_unstable), "{here}");
                // The note is for older hosts, which recognize a doubt by it only.
                assert_eq!(c.note.is_empty(), last.doubts.is_empty(), "{here}");
            } else {
                // Only instructions may be missing, and only on x86-64.
                assert!(cfg!(target_arch = "x86_64") && c.note.contains("instructions"), "{here}");
            }
        }
    }
    // All loops that the CPU supports, and no others; each is in the table.
    for (kind, numbers) in [
        (CeilingKind::Int8, Numbers::Int8),
        (CeilingKind::F32, Numbers::F32),
        (CeilingKind::F16, Numbers::F16),
    ] {
        let ways = arithmetic().into_iter().filter(|a| a.numbers == numbers).map(|a| a.how);
        let alone = model.ceilings.iter().filter(|c| c.kind == kind && c.cpus.len() == 1 && c.measured());
        assert!(alone.map(|c| c.how.as_str()).eq(ways), "{table}");
    }
    for c in &model.ceilings {
        assert!(table.lines().any(|l| l.contains(c.kind.name()) && l.contains(&c.how)), "{c:?}\n{table}");
    }
    assert!(stderr.contains(&format!("[1/{}] read", model.ceilings.len())), "{stderr}");
}

#[test]
fn impossible_requests_are_refused_in_advance() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ceilings.pfi");
    let most = own().len() + 1;
    for (arguments, answer) in [
        (vec!["--cpus", "1023"], "CPU 1023"),
        (vec!["--cpus", "0-"], "`0-`"),
        (vec!["--threads", "none"], "`none`"),
        (vec!["--threads", &most.to_string()], "number of selected CPUs"),
        (vec!["--budget=-1"], "budget"),
        (vec!["--out", "/nowhere/at/all"], "/nowhere/at/all"),
    ] {
        let run = bench(
            &[&arguments[..], &["--budget", "0.1"][..usize::from(!arguments[0].starts_with("--budget")) * 2]]
                .concat(),
        );
        let stderr = String::from_utf8(run.stderr).unwrap();
        assert!(!run.status.success() && run.stdout.is_empty(), "{arguments:?}");
        assert!(stderr.contains(answer) && stderr.contains("help: "), "{arguments:?}: {stderr}");
    }
    assert!(!file.exists());
}

#[test]
fn a_run_stops_on_request_and_records_its_doubts() {
    let options = Options {
        cpus: own()[0].to_string(),
        budget: std::time::Duration::from_millis(100),
        engine: Some(7),
        ..Options::default()
    };
    let mut seen = 0;
    let ceilings = ceiling::measure(&options, &mut |_| {
        seen += 1;
        seen < 3
    });
    let ceilings = ceilings.unwrap();
    assert_eq!(ceilings.len(), 3);
    let doubtful = |c: &Ceiling| c.points.iter().all(|p| p.doubts & doubt::ENGINE_RAN != 0);
    assert!(ceilings.iter().all(doubtful) && !ceilings[0].points.is_empty(), "{ceilings:?}");
    let noted = |c: &Ceiling| c.record(|r| !r.note.is_empty());
    assert!(ceilings.iter().all(noted), "older hosts recognize a doubt by its note only: {ceilings:?}");
}

/// With the usual budget, reading is a curve from 256 KiB with doubling steps. It ends at four
/// times the reported caches of this machine or at half of its memory, and the run takes at most
/// 1.5 times its budget.
#[test]
fn reading_gives_a_curve() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ceilings.pfi");
    let cpu = own()[0].to_string();
    let begun = std::time::Instant::now();
    let run = bench(&["--cpus", &cpu, "--budget", "3", "--out", file.to_str().unwrap()]);
    let took = begun.elapsed();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let model = read(&file);
    let curve = model.ceilings.iter().find(|c| c.kind == CeilingKind::Read).unwrap();
    let sizes: Vec<u64> = curve.points.iter().map(|p| p.working_set_bytes).collect();
    assert_eq!(sizes[0], 256 << 10);
    let (last, doubled) = sizes.split_last().unwrap();
    assert!(doubled.windows(2).all(|w| w[1] == 2 * w[0]), "{sizes:?}");
    assert!(doubled.last().is_none_or(|b| b < last && *last <= 2 * b), "{sizes:?}");
    // Whatever ended it, it is at most 2 GiB.
    assert!(*last <= 2 << 30, "{sizes:?}");
    let end = curve.points.last().unwrap().end;
    assert!(*last >= 32 << 20 || end != CurveEnd::Cache, "{sizes:?} {end:?}");
    // The budget assumes an otherwise idle CPU; other tests use this one too.
    assert!(took < std::time::Duration::from_secs(60), "{took:?}");
}
