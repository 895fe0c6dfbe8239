//! Starts only: the same nodes with half of the hits; the time of an operator extends to the next
//! start.

use profinfer_trace::model::{Ends, Model, WAIT_UNKNOWN};

use crate::engine_list::parse;
use crate::nodes::{backend_calls, check_nodes};
use crate::support::{engine, model, parts, record};

fn starts_of(variable: &str, gguf: &str) {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine(variable) else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, gguf));
    let command =
        [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "3", "-c", "512", "--list"];
    let (trace, output) = record(&parts, &["--levels", "token,graph,op", "--ends", "none"], &command);
    let calls = parse(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(trace.capture.ends, Ends::None);
    assert!(trace.session.probes.iter().all(|p| p.what != "operator end"), "no end probe is there");
    // The time of an operator includes the wait, so the times of all threads do not add up to that
    // of the graph.
    check_nodes(&trace, &calls, variable);
    assert!(trace.spans.wait_ns.iter().all(|w| *w == WAIT_UNKNOWN), "no wait is known");
    (0..calls.len()).for_each(|i| gapless(&trace, i));
    let ledger = trace.health.ledger.unwrap();
    assert_eq!((ledger.span_starts, ledger.spans_no_end), (ledger.span_ends, 0));
}

/// The spans of a thread follow each other without a gap, up to the end of their graph.
fn gapless(trace: &Model, decode: usize) {
    let (s, calls) = (&trace.spans, &trace.graph_calls);
    for graph in backend_calls(trace, decode) {
        let of_call: Vec<usize> = (0..s.len()).filter(|i| s.graph_call[*i] == graph).collect();
        let row = graph.0 as usize;
        for pair in of_call.windows(2) {
            let end = s.start_ns[pair[0]] + s.work_ns[pair[0]];
            if s.thread[pair[0]] == s.thread[pair[1]] {
                assert_eq!(end, s.start_ns[pair[1]]);
            } else {
                assert_eq!(end, calls.start_ns[row] + calls.duration_ns[row]);
            }
        }
    }
}

#[test]
fn newest() {
    starts_of("PROFINFER_ENGINE_DIR", "dense-q8");
}

#[test]
fn newest_moe() {
    starts_of("PROFINFER_ENGINE_DIR", "moe-qwen60");
}

#[test]
fn b4600() {
    starts_of("PROFINFER_MID_ENGINE_DIR", "dense-q8");
}

#[test]
fn b3889() {
    starts_of("PROFINFER_OLD_ENGINE_DIR", "dense-q8");
}

#[test]
fn counters_need_ends() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "3"];
    let (trace, _) = record(&parts, &["--counters", "minor-faults", "--ends", "none"], &command);
    assert_eq!(trace.capture.ends, Ends::Both);
    let refused = [(profinfer_trace::model::CaptureOption::Ends, profinfer_trace::model::Refusal::Counters)];
    assert_eq!(trace.capture.refused, refused);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
}
