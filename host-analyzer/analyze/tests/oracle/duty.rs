//! The duty cycle on a real engine: captured calls are complete, the others have nothing, and the
//! switches distinguish them.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::{GraphCallId, Model, Traced};

use crate::engine_list::parse;
use crate::nodes::{backend_calls, check_spans, list};
use crate::support::{engine, model, parts, read, record, signal, started};

/// By the switches.
pub(crate) fn traced(trace: &Model, decode: usize) -> Traced {
    let d = &trace.llama_calls;
    let pid = trace.threads.get(d.thread[decode]).pid;
    trace.duty.traced(pid, d.start_ns[decode], d.start_ns[decode] + d.duration_ns[decode])
}

/// Number of spans of a graph call.
pub(crate) fn spans_of(trace: &Model, call: GraphCallId) -> usize {
    let calls = &trace.spans.graph_call;
    calls.partition_point(|c| *c <= call) - calls.partition_point(|c| *c < call)
}

/// Median time from the end of a decode call to the end of the next one, ns.
pub(crate) fn token_ns(trace: &Model) -> u64 {
    let d = &trace.llama_calls;
    let end = |i: usize| d.start_ns[i] + d.duration_ns[i];
    let mut all: Vec<u64> = (2..d.len()).map(|i| end(i) - end(i - 1)).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// Waits until the growing recording shows enough.
pub(crate) fn until(out: &Path, longest: Duration, enough: impl Fn(&Model) -> bool) {
    let begun = Instant::now();
    while !profinfer_trace::read(&std::fs::read(out).unwrap()).is_ok_and(|model| enough(&model)) {
        if begun.elapsed() > longest {
            println!("not enough after {longest:?}");
            return;
        }
        std::thread::sleep(Duration::from_secs(2));
    }
}

#[test]
fn bursts_are_whole_and_pauses_are_empty() {
    bursts(&[]);
}

#[test]
fn bursts_of_direct_probes_are_whole_and_pauses_are_empty() {
    bursts(&["--probes", "direct"]);
}

fn bursts(probes: &[&str]) {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-f32"));
    let nodes = nodes.to_str().unwrap();
    let levels = ["--levels", "token,graph,op"];
    // One thread: if other programs compute too, threads that spin for each other need a second per
    // token.
    let short = [nodes, "-m", &gguf, "-t", "1", "-p", "5", "-n", "3", "-c", "512", "--list"];
    let (_, output) = record(&parts, &levels, &short);
    let listed = parse(&String::from_utf8_lossy(&output.stdout));
    // The context stays in its first cells, so that all prompts are alike and all tokens are alike.
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let mut agent = Command::new(&parts.agent);
    agent.arg("record").args(levels).args(probes).args([
        "--duty",
        "30%",
        "--out",
        out.to_str().unwrap(),
        "--",
        nodes,
    ]);
    agent.args(["-m", &gguf, "-t", "1", "-p", "5", "-n", "100", "-r", "100000", "-c", "512", "--fresh"]);
    let (mut agent, engine) = started(&mut agent, &out, 4_000);
    let bursts = |m: &Model| m.duty.switches.iter().filter(|s| s.on).count() >= 4;
    until(&out, Duration::from_secs(100), bursts);
    signal(engine.pid(), Signal::SIGTERM);
    agent.wait().unwrap();
    let trace = read(&out);
    let ledger = trace.health.capture.expect("what was left out is counted");
    println!("{ledger:#?}");
    assert!(trace.health.ledger.is_some_and(|l| l.balances() && l.dropped() == 0));
    assert_eq!((trace.capture.duty_permille, trace.capture.refused.len()), (300, 0));
    assert!(trace.duty.switched(), "{:?}", trace.duty);
    let mut seen = [0_usize; 3];
    // The last call did not end.
    for i in 0..trace.llama_calls.len() {
        let graphs = backend_calls(&trace, i);
        assert!(!graphs.is_empty(), "graph level is always on: call {i}");
        let kind = traced(&trace, i);
        seen[kind as usize] += 1;
        for graph in &graphs {
            match kind {
                Traced::Whole => check_spans(&trace, *graph, 1),
                Traced::Untraced => assert_eq!(spans_of(&trace, *graph), 0, "call {i}"),
                Traced::Edge => {}
            }
        }
        // Topologies are always read.
        let ours: Vec<_> = graphs.iter().flat_map(|g| list(&trace, *g)).collect();
        assert_eq!(ours, listed[usize::from(trace.llama_calls.n_tokens[i] == 1)].nodes, "call {i}");
    }
    println!("{seen:?} whole, untraced and at an edge: {:#?}", trace.duty);
    assert!(seen[0] >= 8 && seen[1] >= 8, "{seen:?}");
    assert_eq!((ledger.tokens_traced, ledger.tokens_untraced), (seen[0] as u64, seen[1] as u64));
    // A switch never cuts an operator: only operators of the call in which the engine was ended are
    // partial.
    let (edges, nodes) = (trace.health.ledger.unwrap(), listed[1].nodes.len() as u64);
    assert!(edges.spans_no_start <= nodes && edges.spans_no_end <= 1, "{edges:?}");
}

/// Without options the slowdown is limited: short bursts from the first token on, and figures of all
/// tokens.
#[test]
fn a_default_recording_traces_bursts_from_the_first_token_on() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "smollm2"));
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let mut agent = Command::new(&parts.agent);
    agent.args(["record", "--out", out.to_str().unwrap(), "--", nodes.to_str().unwrap()]);
    agent.args(["-m", &gguf, "-t", "1", "-p", "32", "-n", "256", "-c", "512"]);
    let output = agent.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = read(&out);
    assert_eq!((trace.capture.max_slowdown_ppm, trace.capture.refused.len()), (Some(30_000), 0));
    let calls = &trace.llama_calls;
    let kinds: Vec<Traced> = (0..calls.len()).map(|i| traced(&trace, i)).collect();
    println!("{kinds:?}");
    // The prompt and the first tokens.
    let first = calls.n_tokens.iter().position(|n| *n == 1).unwrap();
    assert_eq!((first, calls.len() - first), (1, 256));
    assert!(kinds[..first + 8].iter().all(|k| *k == Traced::Whole));
    let of = |kind: Traced| {
        kinds[first..].chunk_by(|a, b| a == b).filter(|s| s[0] == kind && s.len() >= 8).count()
    };
    // How many bursts the limit allows depends on what the first ones cost here.
    assert!(of(Traced::Whole) >= 1 && of(Traced::Untraced) >= 1, "{kinds:?}");
    for (i, kind) in kinds.iter().enumerate() {
        for graph in backend_calls(&trace, i) {
            match kind {
                Traced::Whole => check_spans(&trace, graph, 1),
                Traced::Untraced => assert_eq!(spans_of(&trace, graph), 0, "call {i}"),
                Traced::Edge => {}
            }
        }
    }
    let n = |kind: Traced| kinds.iter().filter(|k| **k == kind).count() as u64;
    let ledger = trace.health.capture.expect("what was left out is counted");
    let counted = (ledger.tokens_traced, ledger.tokens_untraced, ledger.tokens_edge);
    assert_eq!(counted, (n(Traced::Whole), n(Traced::Untraced), n(Traced::Edge)));
    let spans = trace.health.ledger.unwrap();
    assert!(spans.balances() && spans.dropped() == 0 && spans.spans_sent == trace.spans.len() as u64);
    // The ladder covers all tokens. One of the completely traced calls is the prompt.
    let analysis = Analysis::compute(&trace);
    let decode = analysis.ladder.rows.iter().find(|l| l.question == Question::Decode).unwrap();
    assert_eq!((decode.units, decode.traced_units), (256, n(Traced::Whole) - 1));
}
