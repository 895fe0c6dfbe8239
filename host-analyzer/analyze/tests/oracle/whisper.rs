//! whisper.cpp, a GGML program that is not llama.cpp: graphs and operators, and no token level.
//!
//! Three oracles: the list that the driver makes of every graph with GGML's own accessors before
//! the scheduler computes it, whisper's own counts and times, and the dimensions that follow from
//! the header of the model file.
//!
//! `ci/engines/others.sh` fetches the builds and names their folders in PROFINFER_WHISPER_DIR and PROFINFER_WHISPER_WHEEL_DIR.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::{DecodeFunction, GraphCallId, Layer, Level, Model};

use crate::engine_list::{Call, Listed, parse};
use crate::nodes::{check_spans, list};
use crate::support::{Parts, engine, parts, read, record};
use crate::whisper_model::{Whisper, header};

/// Graphs of an encoding: convolutions, encoder, keys and values for the decoder.
const OF_ENCODING: usize = 3;
/// The prompt: begin, language, task, no time stamps.
const PROMPT: u32 = 4;

/// The first seconds of the sample, on two threads.
fn command(parts: &Parts, bin: &Path) -> Vec<String> {
    let path = |p: PathBuf| p.to_str().unwrap().to_owned();
    let sound = path(bin.join("../speech.wav"));
    let of = ["-m", &path(parts.models.join("whisper-tiny.bin")), "-f", &sound];
    let with = ["-t", "2", "-s", "8", "-n", "10", "--list"];
    [path(bin.join("whisper"))]
        .into_iter()
        .chain([&of[..], &with[..]].concat().iter().map(|s| s.to_string()))
        .collect()
}

/// Calls of a layer, in order of time.
fn calls(trace: &Model, layer: Layer) -> Vec<GraphCallId> {
    let all = &trace.graph_calls;
    let mut found: Vec<_> = (0..all.len()).filter(|g| all.layer[*g] == layer).collect();
    found.sort_by_key(|g| all.start_ns[*g]);
    found.into_iter().map(|g| GraphCallId(u32::try_from(g).unwrap())).collect()
}

fn time(trace: &Model, call: GraphCallId) -> (u64, u64) {
    let (all, i) = (&trace.graph_calls, call.0 as usize);
    (all.start_ns[i], all.start_ns[i] + all.duration_ns[i])
}

/// Compares the trace of a run with the driver's output.
fn check(trace: &Model, stdout: &str, stderr: &str, whisper: &Whisper) {
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let ledger = trace.health.ledger.unwrap();
    assert!(ledger.span_ends > 0);
    assert_eq!((ledger.span_starts, ledger.spans_no_end), (ledger.span_ends, 0), "what starts ends");
    let graphs = parse(stdout);
    let (scheduler, backend) = (calls(trace, Layer::Scheduler), calls(trace, Layer::Backend));
    assert_eq!(
        (scheduler.len(), backend.len()),
        (graphs.len(), graphs.len()),
        "one backend, so one part of each graph"
    );
    for (i, graph) in graphs.iter().enumerate() {
        let (outer, inner) = (time(trace, scheduler[i]), time(trace, backend[i]));
        assert!(
            graph.start_ns <= outer.0 && outer.1 <= graph.end_ns,
            "graph {i} lies within the driver's stamps"
        );
        assert!(outer.0 <= inner.0 && inner.1 <= outer.1, "graph {i}: the part lies in the whole");
        let ours: Vec<Listed> = list(trace, backend[i]);
        assert_eq!(ours.len(), graph.nodes.len(), "graph {i}: number of nodes");
        for (ours, engines) in ours.iter().zip(&graph.nodes) {
            assert_eq!(ours, engines, "graph {i}");
        }
        check_spans(trace, backend[i], 2);
    }
    let all_in_graphs = trace.spans.graph_call.iter().all(|g| backend.contains(g));
    assert!(all_in_graphs, "every operator belongs to a graph of the list");
    check_topologies(trace, &graphs, &backend, whisper);
    check_timings(trace, &graphs, &scheduler, stderr);
    check_token_level(trace);
    check_answer(trace, &graphs, stderr, whisper);
}

/// The dimensions of the tensors follow from the model file.
fn check_topologies(trace: &Model, graphs: &[Call], backend: &[GraphCallId], whisper: &Whisper) {
    let encoding = [whisper.convolutions(), whisper.encoder(), whisper.cross()];
    for (i, (graph, call)) in graphs.iter().zip(backend).enumerate() {
        let expected = encoding.get(i).cloned().unwrap_or_else(|| whisper.decoder(graph.n_tokens.into()));
        let nodes = list(trace, *call);
        for (op, ne, n) in expected {
            let found = nodes.iter().filter(|node| node.op == op && node.ne == ne).count();
            assert_eq!(found, n, "graph {i}: {op} of {ne:?}");
        }
    }
}

/// whisper's own figures: `whisper_print_timings: NAME time = MS ms / RUNS runs`.
fn timings(stderr: &str) -> BTreeMap<String, (f64, usize)> {
    let of_line = |line: &str| {
        let (name, rest) = line.strip_prefix("whisper_print_timings:")?.split_once(" time =")?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let runs = words.iter().position(|w| *w == "runs").map_or(0, |i| words[i - 1].parse().unwrap());
        Some((name.trim().to_owned(), (words[0].parse().unwrap(), runs)))
    };
    stderr.lines().filter_map(of_line).collect()
}

/// Number and time of the scheduler's calls equal those of whisper's own encodings and decodings.
fn check_timings(trace: &Model, graphs: &[Call], scheduler: &[GraphCallId], stderr: &str) {
    let own = timings(stderr);
    let decodings = &graphs[OF_ENCODING..];
    assert!(graphs[..OF_ENCODING].iter().all(|g| g.of == 0), "the encoding is the first step");
    assert!(decodings.iter().enumerate().all(|(i, g)| g.of == i + 1), "one graph for each decoding");
    assert_eq!(decodings[0].n_tokens, PROMPT);
    assert_eq!(own["encode"].1, 1, "{own:?}");
    assert_eq!(own["batchd"].1, PROMPT as usize, "tokens decoded several at once: {own:?}");
    assert_eq!(own["decode"].1, decodings.len() - 1, "tokens decoded one by one: {own:?}");
    for (name, range) in [
        ("encode", 0..OF_ENCODING),
        ("batchd", OF_ENCODING..OF_ENCODING + 1),
        ("decode", OF_ENCODING + 1..graphs.len()),
    ] {
        let ns: u64 = scheduler[range].iter().map(|g| time(trace, *g)).map(|(start, end)| end - start).sum();
        let ms = ns as f64 / 1e6;
        // Printed with two decimals, from microseconds that were truncated at each step.
        assert!(
            ms <= own[name].0 + 0.02 && ms > 0.3 * own[name].0,
            "{name}: {ms} ms in graphs, {} ms by its own word",
            own[name].0
        );
    }
}

/// Each graph counts as a call. Encodings, prompts and decodings are those of whisper, and their ladders have the
/// time of these calls.
fn check_answer(trace: &Model, graphs: &[Call], stderr: &str, whisper: &Whisper) {
    let own = timings(stderr);
    let a = Analysis::compute(trace);
    assert!(trace.llama_calls.function.iter().all(|f| *f == DecodeFunction::Graph));
    let token = &a.token;
    let calls = [token.encode.calls, token.prefill.calls, token.prefill.tokens, token.decode.calls];
    let [prompt, decodings] = ["batchd", "decode"].map(|name| own[name].1 as u64);
    assert_eq!(calls, [OF_ENCODING as u64, 1, prompt, decodings]);
    assert_eq!(token.calls.len(), graphs.len());
    let ladder = |question| a.ladder.of(question).unwrap();
    // An encoding is several graphs.
    assert_eq!(ladder(Question::Encode).units, own["encode"].1 as u64);
    assert_eq!(ladder(Question::Decode).tokens, decodings);
    let encode_ms = ladder(Question::Encode).measured_ns as f64 / 1e6;
    assert!(
        encode_ms <= own["encode"].0 + 0.02 && encode_ms > 0.3 * own["encode"].0,
        "{encode_ms} ms, {own:?}"
    );
    // Nothing has a name that tells weights, so graphs do: the table of tokens, and those of the layers.
    let weights: u64 = a.weight.iter().map(|w| w.bytes).sum();
    let file = whisper.bytes;
    assert!(weights > file * 95 / 100 && weights <= file, "{weights} bytes of weights in a file of {file}");
}

/// The missing token level is reported once.
fn check_token_level(trace: &Model) {
    let token: Vec<_> = trace.session.probes.iter().filter(|p| p.level == Some(Level::Token)).collect();
    assert_eq!(token.len(), 1, "{token:?}");
    assert!(
        !token[0].attached && token[0].note.contains("a program on GGML other than llama.cpp"),
        "{token:?}"
    );
    let lines = profinfer_views::words::health::lines(&Analysis::compute(trace).health);
    assert_eq!(lines.iter().filter(|l| l.contains("token level")).count(), 1, "{lines:?}");
}

fn run(variable: &str) {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine(variable) else { return };
    let command = command(&parts, &bin);
    let (trace, Output { stdout, stderr, .. }) =
        record(&parts, &[], &command.iter().map(String::as_str).collect::<Vec<_>>());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let whisper = header(&parts.models.join("whisper-tiny.bin"));
    check(&trace, &text(&stdout), &text(&stderr), &whisper);
    assert!(text(&stdout).contains("Wikipedia"), "it heard what is said: {}", text(&stdout));
}

#[test]
#[ignore = "ci/engines/others.sh runs it"]
fn debians_build() {
    run("PROFINFER_WHISPER_DIR");
}

#[test]
#[ignore = "ci/engines/others.sh runs it"]
fn the_wheels_build() {
    run("PROFINFER_WHISPER_WHEEL_DIR");
}

/// The agent attaches while whisper waits for its work.
#[test]
#[ignore = "ci/engines/others.sh runs it"]
fn by_pid() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_WHISPER_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let (out, command) = (dir.path().join("t.pfi"), command(&parts, &bin));
    let mut program = Command::new(&command[0])
        .args(&command[1..])
        .arg("--pause")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(program.stdout.take().unwrap());
    let mut ready = String::new();
    stdout.read_line(&mut ready).unwrap();
    assert_eq!(ready.trim(), format!("ready\t{}", program.id()));
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &program.id().to_string()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    crate::attach::wait_for_probes(&out);
    program.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut said).unwrap();
    let ended = program.wait_with_output().unwrap();
    assert!(ended.status.success() && agent.wait().unwrap().success());
    let whisper = header(&parts.models.join("whisper-tiny.bin"));
    check(&read(&out), &said, &String::from_utf8_lossy(&ended.stderr), &whisper);
}
