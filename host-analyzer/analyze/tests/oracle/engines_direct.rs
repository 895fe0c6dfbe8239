//! One process of each build that repeats the same calls, recorded with direct probes and then with
//! uprobes, compared with the engine's own lists and with each other.
//!
//! `ci/engines/direct.sh` records. Its folders are in PROFINFER_ENGINES_DIR, as
//! `BUILD/direct/MODEL`. The results go there, as `row`, for the table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use profinfer_skip::needed_path;
use profinfer_trace::model::{GraphCallId, Model};

use crate::engine_list::{Call, Listed, parse};
use crate::engines::{CALLS, caught, check_graph, entries};
use crate::nodes::{backend_calls, list};
use crate::support::read;

/// Number of `llama_decode` calls that are compared, from the middle of a recording: at its ends
/// only some probes were installed.
const COMPARED: usize = 4 * CALLS;

/// The nodes executed in a graph: first node, last node, name, operator.
type Ran = BTreeSet<(u32, u32, String, String)>;

/// The nodes executed in the calls of a round, in order.
type Round = BTreeMap<usize, Vec<Ran>>;

#[test]
#[ignore = "ci/engines/matrix.sh and ci/board/engines.sh run it"]
fn probes_of_builds() {
    let Some(dir) = needed_path("PROFINFER_ENGINES_DIR", "ci/engines/matrix.sh") else { return };
    let all = entries(&dir).into_iter().map(|build| build.join("direct")).filter(|d| d.is_dir());
    let mut runs: Vec<_> = all.flat_map(|d| entries(&d)).collect();
    assert!(!runs.is_empty(), "{} holds no recordings", dir.display());
    // Check each of them, also after a failure.
    runs.retain(|run| {
        let said = caught(|| compare(run));
        let (word, wrong) = match &said {
            Ok(word) => (word.clone(), false),
            Err(why) => (format!("wrong: {why}"), true),
        };
        std::fs::write(run.join("row"), word).unwrap();
        wrong
    });
    assert!(runs.is_empty(), "wrong in {runs:?}");
}

/// Compares both recordings of a process with its list, and with each other. Returns the result of
/// direct probes.
fn compare(run: &Path) -> String {
    let text = std::fs::read_to_string(run.join("list.txt")).unwrap();
    // The engine was ended while it wrote.
    let calls = parse(&text[..text.rfind('\n').unwrap_or(0)]);
    let levels = std::fs::read_to_string(run.join("../../levels")).unwrap();
    let [direct, uprobe] = ["direct", "uprobe"].map(|probes| read(&run.join(probes).with_extension("pfi")));
    assert!(uprobe.health.operator_probes.is_empty() && uprobe.health.direct.is_none());
    let [probes] = &*direct.health.operator_probes else { panic!("{:?}", direct.health.operator_probes) };
    let word = match &probes.refused {
        Some(refused) => format!("refused: {:?}", refused.why),
        None => {
            assert!(probes.places > 0 && probes.stopped_ns > 0);
            let totals = direct.health.direct.unwrap();
            assert!(totals.records >= direct.spans.len() as u64, "{totals:?}");
            "equal".to_owned()
        }
    };
    let [ran_direct, ran_uprobe] = [&direct, &uprobe].map(|trace| round(trace, &calls, levels.trim()));
    assert_eq!(ran_direct, ran_uprobe, "what ran by direct probes, and by uprobes");
    assert!(!word.contains("Other"), "a reason that is not known");
    word
}

/// The nodes executed in each call of a round, the same in all rounds; each graph as in the
/// engine's own list.
fn round(trace: &Model, calls: &[Call], levels: &str) -> Round {
    let ledger = trace.health.ledger.unwrap();
    assert!(ledger.balances() && ledger.nothing_lost(), "{:#?}", trace.health);
    let d = &trace.llama_calls;
    let has_spans: BTreeSet<GraphCallId> = trace.spans.graph_call.iter().copied().collect();
    let mut whole = Vec::new();
    for i in 0..d.len() {
        let (start, end) = (d.start_ns[i], d.start_ns[i] + d.duration_ns[i]);
        let listed = calls.iter().position(|c| c.start_ns <= start && end <= c.end_ns);
        let graphs = backend_calls(trace, i);
        if let Some(listed) = listed.filter(|_| graphs.iter().any(|g| has_spans.contains(g))) {
            whole.push((i, listed, graphs));
        }
    }
    assert!(whole.len() > COMPARED + 4, "{} calls were recorded whole", whole.len());
    let mut rounds = Round::new();
    for (i, listed, graphs) in &whole[(whole.len() - COMPARED) / 2..][..COMPARED] {
        let call = &calls[*listed];
        assert_eq!(d.n_tokens[*i], call.n_tokens, "tokens of call {listed}");
        let ours: Vec<Listed> = graphs.iter().flat_map(|g| list(trace, *g)).collect();
        assert!(!ours.is_empty());
        assert_eq!(ours, call.nodes, "nodes of call {listed}");
        graphs.iter().for_each(|g| check_graph(trace, *g, levels));
        let ran: Vec<Ran> = graphs.iter().map(|g| ran(trace, *g)).collect();
        let before = rounds.entry(listed % CALLS).or_insert_with(|| ran.clone());
        assert_eq!(*before, ran, "call {listed} and the one before in its place");
    }
    assert_eq!(rounds.len(), CALLS, "calls of a round");
    rounds
}

fn ran(trace: &Model, graph: GraphCallId) -> Ran {
    let nodes = list(trace, graph);
    let of_graph = (0..trace.spans.len()).filter(|i| trace.spans.graph_call[*i] == graph);
    of_graph
        .map(|i| {
            let (node, last) = (trace.spans.node[i].0, trace.spans.last_node[i].0);
            let Listed { name, op, .. } = &nodes[node as usize];
            (node, last, name.clone(), op.clone())
        })
        .collect()
}
