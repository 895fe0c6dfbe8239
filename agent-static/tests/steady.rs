//! A running session allocates nothing: its memory on a board is bounded by its memory at the
//! start.
//!
//! The real session on a real engine, with every allocation counted. Needs root, BPF, and the
//! engine and models that `scripts/test.sh` provides; otherwise it is skipped.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_agent::link::Output;
use profinfer_agent::link::output::Kind;
use profinfer_agent::request::capture::Wanted;
use profinfer_agent::request::plan::{self, GaugeRequest, GaugeSource, Plan};
use profinfer_agent::session;
use profinfer_agent::session::host::Host;
use profinfer_agent::signals::Signals;
use profinfer_agent::target::process::Target;
use profinfer_skip::{can_trace, needed_path};
use profinfer_wire::record::direct::Probes;
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

/// Files that exist on every machine.
fn gauges() -> Vec<GaugeRequest> {
    let gauge = |path: &str| GaugeRequest {
        name: path.to_owned(),
        kind: GaugeKind::Load,
        unit: GaugeUnit::Microwatts,
        source: GaugeSource::File { path: path.to_owned(), parse: GaugeParse::Integer },
        period_ms: 10,
    };
    ["/sys/devices/system/cpu/kernel_max", "/sys/devices/system/cpu/cpu0/topology/core_id"].map(gauge).into()
}

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[test]
fn a_session_that_has_begun_allocates_nothing() {
    let Some(bin) = needed_path("PROFINFER_ENGINE_DIR", "scripts/test.sh") else { return };
    let Some(models) = needed_path("PROFINFER_MODELS_DIR", "scripts/test.sh") else { return };
    if !can_trace() {
        return;
    }
    // For the origin of allocations: PROFINFER_DHAT=file, then dhat's viewer.
    let _profiler = match std::env::var_os("PROFINFER_DHAT") {
        Some(file) => dhat::Profiler::builder().file_name(file).build(),
        None => dhat::Profiler::builder().testing().build(),
    };
    let always = Wanted::default();
    let duty = || Wanted { duty_permille: 300, ..Wanted::default() };
    allocates_nothing(&bin, &models, "all", Probes::Auto, always.clone(), 3);
    // With direct probes, only graphs and decode calls pass the kernel's ring.
    allocates_nothing(&bin, &models, "token,graph,op", Probes::Direct, always, 1);
    allocates_nothing(&bin, &models, "token,graph,op", Probes::Direct, duty(), 1);
}

fn allocates_nothing(
    bin: &Path,
    models: &Path,
    levels: &'static str,
    probes: Probes,
    capture: Wanted,
    seconds: u64,
) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let file = std::fs::File::create(&out).unwrap();
    let mut engine =
        vec![bin.join("nodes").into_os_string(), "-m".into(), models.join("dense-q8.gguf").into()];
    engine.extend(["-t", "2", "-p", "5", "-n", "50", "-r", "100000", "--fresh"].map(Into::into));
    let session = std::thread::spawn(move || {
        let plan = Plan {
            board: "host".to_owned(),
            levels: plan::levels(levels).unwrap(),
            target: String::new(),
            counters: Vec::new(),
            gauges: gauges(),
            bench: None,
            probes,
            capture,
            only: true,
            ring_bytes: None,
        };
        let target = Target::Command { command: engine, stdout_to_stderr: false, user: None };
        let output = Output::new(file, Kind::File, "the test").unwrap();
        session::run(&plan, &target, output, &Signals::new().unwrap(), &mut Host::nobody())
    });
    let written = || std::fs::metadata(&out).map_or(0, |m| m.len());
    let begun = Instant::now();
    while written() < 200_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no trace");
        std::thread::sleep(Duration::from_millis(100));
    }
    // All topologies, threads and texts have been seen in the previous rounds.
    std::thread::sleep(Duration::from_secs(1));
    let (blocks, bytes) = (dhat::HeapStats::get().total_blocks, written());
    // This many seconds, or longer if the machine is busy.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(seconds)
        || written() - bytes <= 100_000 && begun.elapsed() < Duration::from_secs(60)
    {
        std::thread::sleep(Duration::from_millis(100));
    }
    let (more, written) = (dhat::HeapStats::get().total_blocks - blocks, written() - bytes);
    let engine = std::process::Command::new("pkill").args(["-P", &std::process::id().to_string()]).status();
    assert!(engine.unwrap().success());
    session.join().unwrap().unwrap();
    assert!(written > 100_000, "only {written} bytes were recorded meanwhile");
    assert_eq!(more, 0, "allocations with {probes:?} probes while {written} bytes were recorded");
}
