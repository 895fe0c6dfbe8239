//! Reasons for missing spans, compared with the engine's own list: nodes without elements, which no
//! engine computes, and graphs with more nodes than the agent reads.

use profinfer_analysis::Analysis;
use profinfer_analysis::health::Remark;
use profinfer_trace::model::Model;

use crate::engine_list::{Call, Listed, parse};
use crate::support::{engine, model, parts, record, whole};

/// Maximum number of nodes that a walk reads (docs/output-schema.md).
const NODES: usize = 16_384;

const THREADS: u64 = 2;

/// The recording of an engine that lists its nodes, and the list.
fn listed(name: &str) -> Option<(Model, Vec<Call>)> {
    let (parts, bin) = (parts()?, engine("PROFINFER_ENGINE_DIR")?);
    let (driver, gguf) = (bin.join("nodes"), model(&parts, name));
    let command =
        [driver.to_str().unwrap(), "-m", &gguf, "-t", &THREADS.to_string(), "-p", "5", "-n", "3", "--list"];
    let (trace, output) = record(&parts, &["--levels", "token,graph,op"], &command);
    Some((trace, parse(&String::from_utf8(output.stdout).unwrap())))
}

/// Operators for which no thread does anything.
const VIEWS: [&str; 5] = ["NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"];

/// The engine's threads pass it, and compute nothing.
fn is_empty(node: &Listed) -> bool {
    node.ne.contains(&0) && !VIEWS.contains(&node.op.as_str())
}

#[test]
fn nodes_without_elements_are_empty_and_not_lost() {
    let Some((trace, calls)) = listed("mamba-q8") else { return };
    let empty = calls.iter().flat_map(|c| &c.nodes).filter(|n| is_empty(n)).count() as u64;
    assert!(empty > 0, "a recurrent state is passed on by such nodes");
    whole(&trace);
    let health = Analysis::compute(&trace).health;
    assert!(health.perfect, "{health:#?}");
    let spans = health.spans;
    assert_eq!((spans.no_start, spans.unaccounted), (Some(0), Some(0)), "{spans:?}");
    let passed = THREADS * empty;
    assert_eq!(spans.empty, Some(passed));
    assert_eq!(spans.kernel, Some(spans.received + passed));
}

#[test]
fn a_graph_beyond_the_limit_is_named() {
    let Some((trace, calls)) = listed("deepest-q8") else { return };
    assert!(calls.iter().all(|c| c.nodes.len() > NODES), "the model is deep enough");
    let analysis = Analysis::compute(&trace);
    assert_eq!(analysis.token.decode.tokens, 3, "its calls are there");
    let dropped = analysis.health.dropped.unwrap();
    assert!(dropped.spans > 0, "{dropped:?}");
    assert_eq!(dropped.ledger.spans_too_large, dropped.spans, "{dropped:?}");
    assert_eq!(analysis.health.spans.kernel, Some(dropped.spans));
    assert!(trace.spans.is_empty());
    // No remark claims that the engine computed nothing.
    let unseen = |r: &Remark| matches!(r, Remark::NothingSeen { .. });
    assert!(!analysis.health.remarks.iter().any(unseen), "{:?}", analysis.health.remarks);
}
