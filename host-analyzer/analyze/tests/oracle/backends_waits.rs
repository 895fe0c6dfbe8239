//! Backends that compute on their own: the engine goes on, and waits for them where it takes the outputs. The
//! times of calls must equal those by the engine's own clock, which ends with that wait, too; and the wait is
//! that for another backend: not sampling, and no thread of the engine to blame.
//!
//! `ci/engines/backends.sh` fetches the engines and names their folders in PROFINFER_RPC_ENGINE_DIR and
//! PROFINFER_VULKAN_ENGINE_DIR.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_trace::model::Model;

use crate::support::{engine, model, parts, record, whole};

/// A server that computes graphs for another process. It ends with the test.
struct RpcServer(Child, String);

impl RpcServer {
    fn start(bin: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Command::new(bin.join("ggml-rpc-server"));
        server.args(["-H", "127.0.0.1", "-t", "1", "-p", &port.to_string()]);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self(server, format!("127.0.0.1:{port}"));
        let begun = Instant::now();
        while TcpStream::connect(&server.1).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Drop for RpcServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Number of calls of a phase, and their time, ms.
fn calls(trace: &Model, phase: Phase) -> (usize, f64) {
    let phases = Phases::compute(trace);
    let of_it: Vec<usize> =
        (0..trace.llama_calls.len()).filter(|i| phases.llama_calls[*i] == phase).collect();
    let ns: u64 = of_it.iter().map(|i| trace.llama_calls.duration_ns[*i]).sum();
    (of_it.len(), ns as f64 / 1e6)
}

/// Where the time of a decode token goes: most of it is the wait for the other backend.
fn is_the_backends(trace: &Model) {
    let analysis = Analysis::compute(trace);
    let ladder = analysis.ladder.of(Question::Decode).unwrap();
    let share = |kind: StepKind| ladder.share(ladder.sum(|k| k == kind));
    println!("{:?}", ladder.steps);
    assert!(share(StepKind::OtherBackend) > 0.8, "{:?}", ladder.steps);
    assert!(share(StepKind::Application) < 0.1, "{:?}", ladder.steps);
    let findings = Findings::compute(trace, &analysis);
    let found: Vec<_> = findings.found.iter().map(|f| f.rule.code).collect();
    let wrong = ["sampling", "idle_team", "asleep", "polling"];
    assert!(!found.iter().any(|code| wrong.contains(code)), "{found:?}");
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn of_a_server_by_the_engines_own_clock() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_RPC_ENGINE_DIR")) else { return };
    let server = RpcServer::start(&bin);
    let (tool, gguf) = (bin.join("llama-completion"), model(&parts, "smollm2"));
    let command = [tool.to_str().unwrap(), "-m", &gguf, "--rpc", &server.1, "-ngl", "99"];
    let text = [
        "-t",
        "1",
        "-n",
        "32",
        "-no-cnv",
        "--ignore-eos",
        "-p",
        "The quick brown fox jumps over the lazy dog.",
    ];
    let (trace, output) = record(&parts, &[], &[&command[..], &text[..]].concat());
    whole(&trace);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    // `common_perf_print:   eval time =  12.54 ms /  5 runs`
    let by_engine = |what: &str| -> f64 {
        let line =
            log.lines().find(|l| l.contains(&format!(": {what} =")) || l.contains(&format!("  {what} =")));
        let line = line.unwrap_or_else(|| panic!("no {what}: {log}"));
        let ms = line.split('=').nth(1).unwrap().split("ms").next().unwrap();
        ms.trim().parse().unwrap()
    };
    for (phase, what) in [(Phase::Decode, "eval time"), (Phase::Prefill, "prompt eval time")] {
        let ((n, ours), engine) = (calls(&trace, phase), by_engine(what));
        println!("{what}: {engine} ms by the engine, {ours:.2} ms in {n} calls");
        assert!((ours / engine - 1.0).abs() < 0.05, "{what}: {engine} ms, {ours} ms");
    }
    is_the_backends(&trace);
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn of_a_device() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_VULKAN_ENGINE_DIR")) else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = [nodes.to_str().unwrap(), "-m", &gguf, "-t", "1", "-p", "20", "-n", "30", "-g", "99"];
    is_the_backends(&record(&parts, &[], &command).0);
}
