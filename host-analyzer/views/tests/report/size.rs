//! The page of a long session is small enough to be sent by mail.

use std::io;

use profinfer_analysis::Analysis;
use profinfer_views as views;

use crate::browser;
use profinfer_trace::test_support::tables::{Spec, model};

/// Limit of both pages, bytes. The larger one has 931,000.
const LIMIT: u64 = 980_000;

#[derive(Default)]
struct Count(u64);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// With the number of nodes of a 45-layer model, and four threads.
#[test]
fn a_thousand_tokens_fit_into_the_page() {
    let model = model(&Spec { tokens: 1_000, layers: 45, threads: 4, ..Spec::default() });
    let nodes = model.topologies.rows.last().unwrap().n_nodes;
    assert!(
        nodes > 700 && model.llama_calls.len() > 1_000,
        "{nodes} nodes, {} calls",
        model.llama_calls.len()
    );
    let mut page = Count::default();
    views::report::report(&model, &Analysis::compute(&model), &mut page).unwrap();
    assert!(page.0 < LIMIT, "the page has {} bytes", page.0);
}

/// A graph of 2,000 nodes begins with its modules folded, and can be drawn node by node.
#[test]
fn two_thousand_nodes_fit_and_are_drawn() {
    let model = model(&Spec { tokens: 40, layers: 118, threads: 4, ..Spec::default() });
    let nodes = u64::from(model.topologies.rows.last().unwrap().n_nodes);
    assert!(nodes > 2_000, "{nodes} nodes");
    let analysis = Analysis::compute(&model);
    let mut page = Count::default();
    views::report::report(&model, &analysis, &mut page).unwrap();
    assert!(page.0 < LIMIT, "the page has {} bytes", page.0);
    let Some(page) = browser::open(&model, &analysis) else { return };
    assert_eq!(page["problems"], serde_json::json!([]));
    assert_eq!(page["folding"]["first"], "Modules");
    let drawn = &page["graphs"][0];
    let computed = drawn["nodes"].as_array().unwrap().iter().filter(|n| n.as_u64().unwrap() < nodes);
    assert_eq!((computed.count() as u64, &drawn["overlaps"]), (nodes, &serde_json::json!(0)));
}
