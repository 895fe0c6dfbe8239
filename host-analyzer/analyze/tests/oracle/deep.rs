//! Graphs that are too large to be read at one call, against the engine's own list: the first calls
//! have no operators, all others have the same nodes as in the list.

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

use crate::engine_list::{Call, Listed, parse};
use crate::nodes::{backend_calls, check_calls, check_spans, list};
use crate::support::{engine, model, parts, record};

/// More nodes than are read at one call, and more than 8,192.
const DEEP: usize = 9000;
/// Fewest calls until all parts were read: the graph has some 13,000 tensors, of which the ring buffer's
/// half holds 2,500. On a slow or loaded machine the time of a part, 5 ms, ends it earlier.
const FEWEST_PARTS: usize = 4;
/// Tokens to generate: more than the parts that a slow machine needs (one needed 20).
const TOKENS: usize = 40;

/// The agent with such a graph, bytes: its tensors are some 2 MB, the agent of the tests is not the small static one.
const LARGEST_AGENT: u64 = 32 << 20;

fn trace(models: &[&str], tokens: usize) -> Option<(Model, Vec<Call>)> {
    let (parts, bin) = (parts()?, engine("PROFINFER_ENGINE_DIR")?);
    let driver = bin.join("nodes");
    let files: Vec<String> = models.iter().map(|name| model(&parts, name)).collect();
    let tokens = tokens.to_string();
    let mut command = vec![driver.to_str().unwrap(), "-t", "2", "-p", "5", "-n", &tokens, "--list"];
    files.iter().for_each(|file| command.extend(["-m", file.as_str()]));
    let (trace, output) = record(&parts, &["--levels", "token,graph,op"], &command);
    Some((trace, parse(&String::from_utf8(output.stdout).unwrap())))
}

/// Compares each call, and returns for each model the calls without operators.
fn check(trace: &Model, calls: &[Call], models: usize) -> Vec<Vec<usize>> {
    check_calls(trace, calls);
    let mut unread = vec![Vec::new(); models];
    for (i, call) in calls.iter().enumerate() {
        let graphs = backend_calls(trace, i);
        assert!(!graphs.is_empty(), "call {i}: a graph was computed");
        if graphs.iter().any(|g| trace.graph_calls.topology[g.0 as usize].is_none()) {
            unread[call.of].push(i);
            continue;
        }
        let listed: Vec<Listed> = graphs.iter().flat_map(|g| list(trace, *g)).collect();
        assert_eq!(listed.len(), call.nodes.len(), "call {i}: number of nodes");
        for (ours, engines) in listed.iter().zip(&call.nodes) {
            assert_eq!(ours, engines, "call {i}");
        }
        graphs.into_iter().for_each(|graph| check_spans(trace, graph, 2));
    }
    // Only operators are missing, for the one reason.
    let health = Analysis::compute(trace).health;
    let dropped = health.dropped.unwrap();
    assert!(trace.health.ledger.unwrap().balances());
    assert_eq!(dropped.spans, dropped.ledger.spans_no_graph, "{dropped:?}");
    assert_eq!((dropped.ledger.tensors_ring_full, dropped.ledger.calls_ring_full), (0, 0), "{dropped:?}");
    unread
}

#[test]
fn a_graph_of_9000_nodes_is_read_in_parts() {
    let Some((trace, calls)) = trace(&["deep-q8"], TOKENS) else { return };
    assert!(calls.iter().all(|c| c.nodes.len() > DEEP), "the model is deep enough");
    let unread = check(&trace, &calls, 1).remove(0);
    assert!((FEWEST_PARTS..calls.len()).contains(&unread.len()), "{unread:?}");
    // The prompt, and the first tokens.
    assert_eq!(unread, (0..unread.len()).collect::<Vec<_>>());
    assert_eq!(Analysis::compute(&trace).token.decode.tokens, TOKENS as u64, "its calls are there");
}

/// Almost the largest number that is read.
#[test]
fn a_graph_of_15000_nodes_is_read_in_parts() {
    let Some((trace, calls)) = trace(&["deeper-q8"], 2 * TOKENS) else { return };
    assert!(calls.iter().all(|c| (15_000..16_384).contains(&c.nodes.len())), "{}", calls[0].nodes.len());
    let unread = check(&trace, &calls, 1).remove(0);
    assert_eq!(unread, (0..unread.len()).collect::<Vec<_>>());
    assert!(unread.len() < calls.len(), "all parts were read");
    let agent = trace.health.end.unwrap().agent_rss_bytes;
    assert!(agent < LARGEST_AGENT, "{agent} bytes");
}

#[test]
fn a_small_graph_between_the_parts_is_read_at_once() {
    let Some((trace, calls)) = trace(&["deep-q8", "dense-q8"], TOKENS) else { return };
    let unread = check(&trace, &calls, 2);
    assert!((FEWEST_PARTS..calls.len() / 2).contains(&unread[0].len()) && unread[1].is_empty(), "{unread:?}");
}
