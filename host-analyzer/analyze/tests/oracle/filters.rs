//! Filters on a real engine: everything that passes is there, nothing else is, and everything is
//! counted.

use std::collections::BTreeSet;

use profinfer_trace::model::{FilterPlace, Model, NodeIdx, Traced};

use crate::duty::{spans_of, traced};
use crate::nodes::{backend_calls, topology};
use crate::support::{engine, model, parts, record, whole};

/// A run with these options, tokens and threads. `None` if the test is skipped.
fn run(options: &[&str], n: &str, threads: &str) -> Option<Model> {
    let parts = parts()?;
    let bin = engine("PROFINFER_ENGINE_DIR")?;
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-f32"));
    let command = [nodes.to_str().unwrap(), "-m", &gguf, "-t", threads, "-p", "5", "-n", n, "-c", "2048"];
    let options = [&["--levels", "token,graph,op"], options].concat();
    let (trace, _) = record(&parts, &options, &command);
    whole(&trace);
    Some(trace)
}

/// The work of a span: call, thread in order of appearance, names of the nodes of one kernel,
/// operator.
type Ran = (u32, u32, String, String);

/// The work of all spans of the trace.
fn ran(trace: &Model) -> BTreeSet<Ran> {
    let s = &trace.spans;
    let row = |i: usize| {
        let topology = topology(trace, s.graph_call[i]);
        let names = (s.node[i].0..=s.last_node[i].0).map(|n| trace.texts.get(topology.node(NodeIdx(n)).name));
        let op = trace.texts.get(topology.node(s.node[i]).op).to_owned();
        (s.graph_call[i].0, s.thread[i].0, names.collect::<Vec<_>>().join("+"), op)
    };
    (0..s.len()).map(row).collect()
}

/// Both runs computed the same, except for what the filter excludes; every missing span was counted
/// as left out.
fn leaves(options: &[&str], passes: &dyn Fn(&Ran) -> bool) {
    let (Some(all), Some(some)) = (run(&[], "8", "2"), run(options, "8", "2")) else { return };
    let filter = &some.capture.filters[0];
    assert_eq!((filter.place, filter.refused), (FilterPlace::Kernel, None));
    // Threads are numbered in order of appearance, which depends on the filter.
    let plain = |rows: BTreeSet<Ran>, check: bool| -> Vec<(u32, String, String)> {
        let rows = rows.into_iter().filter(|row| !check || passes(row));
        let mut rows: Vec<_> = rows.map(|(call, _, name, op)| (call, name, op)).collect();
        rows.sort();
        rows
    };
    let (expected, got) = (plain(ran(&all), true), plain(ran(&some), false));
    assert!(!got.is_empty() && got.len() < all.spans.len());
    assert!(got == expected, "{:?} instead of {:?}", got.get(..40), expected.get(..40));
    let ledger = some.health.ledger.unwrap();
    assert_eq!(ledger.spans_filtered + ledger.spans_sent, ledger.span_ends);
    assert!(ledger.spans_filtered > 0);
}

#[test]
fn types_of_operators() {
    leaves(&["--only-op", "MUL_MAT,rope"], &|(.., op)| op == "MUL_MAT" || op == "ROPE");
}

#[test]
fn names_of_nodes() {
    let passes = |name: &str| name.starts_with("ffn_") || name.starts_with("Qcur-") && name.len() == 6;
    leaves(&["--only-name", "ffn_*,Qcur-?"], &|(_, _, names, _)| names.split('+').any(passes));
}

#[test]
fn one_thread() {
    let Some(trace) = run(&["--only-threads", "first"], "8", "2") else { return };
    let threads: BTreeSet<_> = trace.spans.thread.iter().map(|t| t.0).collect();
    assert_eq!(threads.len(), 1);
    let callers: BTreeSet<_> = trace.graph_calls.thread.iter().map(|t| t.0).collect();
    assert_eq!(threads, callers, "the one that calls the graph");
    let ledger = trace.health.ledger.unwrap();
    assert_eq!(ledger.spans_filtered, ledger.spans_sent, "the other one did as much");
}

#[test]
fn layers() {
    let Some(trace) = run(&["--only-layers", "1"], "8", "2") else { return };
    let names: BTreeSet<String> = ran(&trace).into_iter().map(|row| row.2).collect();
    println!("{names:?}");
    let of = |layer: &str| names.iter().filter(|n| n.contains(&format!("-{layer}"))).count();
    assert!(of("1") > 5 && of("0") == 0, "{names:?}");
    assert!(names.iter().all(|n| !n.starts_with("result")), "the head is in no layer");
}

#[test]
fn a_range_of_tokens() {
    // One thread: on a busy machine, threads that spin for each other need a second per token.
    let Some(trace) = run(&["--tokens", "70-80,110-111"], "150", "1") else { return };
    let filter = &trace.capture.filters[0];
    assert_eq!((filter.place, filter.refused), (FilterPlace::Trap, None));
    // The first call is the prompt.
    let wanted = |i: usize| (70..=80).contains(&i) || (110..=111).contains(&i);
    let mut untraced = 0;
    for i in 0..trace.llama_calls.len() {
        let spans: usize = backend_calls(&trace, i).into_iter().map(|g| spans_of(&trace, g)).sum();
        assert_eq!(spans > 0, wanted(i), "call {i}");
        let kind = traced(&trace, i);
        assert_eq!(kind == Traced::Whole, wanted(i), "call {i} is {kind:?}");
        untraced += usize::from(kind == Traced::Untraced);
    }
    println!("{untraced} of {} calls ran without probes: {:#?}", trace.llama_calls.len(), trace.duty);
}
