//! The duty cycle on a real engine: what was captured is whole, what was not has nothing, and the switches say which is which.

use host_analyzer::model::{GraphCallId, Model, Traced};

use crate::engine_list::parse;
use crate::nodes::{backend_calls, check_spans, list};
use crate::support::{engine, model, parts, record, whole};

/// By the switches.
pub(crate) fn traced(trace: &Model, decode: usize) -> Traced {
    let d = &trace.decodes;
    let pid = trace.threads.get(d.thread[decode]).pid;
    trace.duty.traced(pid, d.start_ns[decode], d.start_ns[decode] + d.duration_ns[decode])
}

/// Rows of spans of a graph call.
pub(crate) fn spans_of(trace: &Model, call: GraphCallId) -> usize {
    trace.spans.graph_call.iter().filter(|c| **c == call).count()
}

#[test]
fn bursts_are_whole_and_pauses_are_empty() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-f32"));
    let command =
        [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "1500", "-c", "2048", "--list"];
    let (trace, output) = record(&parts, &["--levels", "token,graph,op", "--duty", "30%"], &command);
    let calls = parse(&String::from_utf8_lossy(&output.stdout));
    whole(&trace);
    assert_eq!((trace.capture.duty_permille, trace.capture.refused.len()), (300, 0));
    assert!(trace.duty.switched(), "{:?}", trace.duty);
    assert_eq!(trace.decodes.len(), calls.len(), "token level is always on");
    let mut seen = [0_usize; 3];
    for (i, call) in calls.iter().enumerate() {
        let graphs = backend_calls(&trace, i);
        assert!(!graphs.is_empty(), "graph level is always on: call {i}");
        let kind = traced(&trace, i);
        seen[kind as usize] += 1;
        for graph in &graphs {
            match kind {
                Traced::Whole => check_spans(&trace, *graph, 2),
                Traced::Untraced => assert_eq!(spans_of(&trace, *graph), 0, "call {i}"),
                Traced::Edge => {}
            }
        }
        if kind == Traced::Whole {
            let listed: Vec<_> = graphs.iter().flat_map(|g| list(&trace, *g)).collect();
            assert_eq!(listed, call.nodes, "call {i}");
        }
    }
    println!("{seen:?} whole, untraced and at an edge; {:#?}", trace.health.capture);
    assert!(seen[0] >= 16 && seen[1] >= 16, "{seen:?}");
    let ledger = trace.health.capture.expect("what was left out is counted");
    assert_eq!((ledger.tokens_traced, ledger.tokens_untraced), (seen[0] as u64, seen[1] as u64));
    // Calls that were captured are as if nothing had been switched: no operator was half seen.
    let edges = trace.health.ledger.unwrap();
    assert_eq!((edges.spans_no_start, edges.spans_no_end), (0, 0));
}
