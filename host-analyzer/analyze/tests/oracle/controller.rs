//! The controller on a real engine: tasks that use its CPUs push it below the limit, and operators
//! are no longer captured; when they end, operators return. The limit is derived from the engine's
//! current speed, because machines differ.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use profinfer_trace::model::{ControllerLimit, ControllerStep, Model, StepReason, Traced};

use crate::duty::{token_ns, traced, until};
use crate::nodes::{backend_calls, check_spans};
use crate::support::{engine, model, parts, read, record, signal, started};

/// A task that uses a CPU, until it is dropped.
struct Busy(Child);

impl Busy {
    fn new() -> Self {
        let busy = Command::new("nice")
            .args(["-n", "-5", "sh", "-c", "while :; do :; done"])
            .stdout(Stdio::null())
            .spawn();
        Self(busy.unwrap())
    }
}

/// Enough tasks to take three quarters of the engine's CPU time: a task with nice -5 weighs as much
/// as three others.
fn disturb() -> Vec<Busy> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    let running = load.split([' ', '/']).nth(3).and_then(|n| n.parse::<usize>().ok()).unwrap_or(1);
    let cpus = std::thread::available_parallelism().unwrap().get();
    (0..running.max(cpus)).map(|_| Busy::new()).collect()
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn operators_go_while_the_engine_is_disturbed_and_come_back() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "smollm2"));
    let nodes = nodes.to_str().unwrap();
    // Undisturbed, as far as this machine is.
    let undisturbed = ["-m", &gguf, "-t", "1", "-p", "5", "-n", "20", "-c", "512"];
    let (before, _) = record(&parts, &["--levels", "token,graph,op"], &[&[nodes][..], &undisturbed].concat());
    let token = token_ns(&before);
    // Half of that speed: the disturbance leaves the engine a quarter of its CPU.
    let limit = 1e9 / token as f64 / 2.0;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let mut agent = Command::new(&parts.agent);
    agent.args(["record", "--full", "--levels", "token,graph,op", "--out", out.to_str().unwrap()]);
    agent.args(["--keep-above", &format!("{limit:.3}t/s"), "--", nodes]);
    agent.args(["-m", &gguf, "-t", "1", "-p", "5", "-n", "100", "-r", "100000", "-c", "512", "--fresh"]);
    let (mut agent, engine) = started(&mut agent, &out, 40_000);
    let last = |m: &Model, reason| m.controller_steps.last().is_some_and(|s| s.reason == reason);
    let busy = disturb();
    until(&out, Duration::from_secs(40), |m| last(m, StepReason::TooSlow) && m.controller_steps.len() >= 2);
    drop(busy);
    until(&out, Duration::from_secs(60), |m| last(m, StepReason::FastEnough));
    signal(engine.pid(), Signal::SIGTERM);
    agent.wait().unwrap();
    let trace = read(&out);
    assert!(trace.health.ledger.is_some_and(|l| l.balances() && l.dropped() == 0));
    let steps = &trace.controller_steps;
    println!("limit {limit:.2} t/s, {:.2} undisturbed: {steps:#?}", 1e9 / token as f64);
    let first = steps.first().expect("it was disturbed");
    assert_eq!((first.reason, first.before_permille), (StepReason::TooSlow, 1000));
    assert!(matches!(first.limit, ControllerLimit::KeepAbove(_)));
    assert!(steps.iter().any(|s| s.reason == StepReason::FastEnough), "they come back");
    let up = |s: &ControllerStep| s.after_permille > s.before_permille;
    for pair in steps.windows(2) {
        assert_eq!(pair[0].after_permille, pair[1].before_permille);
        let between = pair[1].at_ns - pair[0].at_ns;
        assert!(up(&pair[0]) == up(&pair[1]) || between >= 10_000_000_000, "turned after {between} ns");
    }
    // The switches match the spans.
    let mut seen = [0; 3];
    for i in 0..trace.llama_calls.len() {
        let kind = traced(&trace, i);
        seen[kind as usize] += 1;
        for graph in backend_calls(&trace, i) {
            let spans = trace.spans.graph_call.partition_point(|c| *c < graph)
                ..trace.spans.graph_call.partition_point(|c| *c <= graph);
            match kind {
                Traced::Whole if i % 16 == 0 => check_spans(&trace, graph, 1),
                Traced::Whole => assert!(!spans.is_empty(), "call {i}"),
                Traced::Untraced => assert!(spans.is_empty(), "call {i}"),
                Traced::Edge => {}
            }
        }
    }
    println!("{seen:?} whole, untraced and at an edge");
    assert!(seen[0] > 0 && seen[1] > 0);
}
