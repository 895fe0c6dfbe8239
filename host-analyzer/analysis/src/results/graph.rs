//! Graph level: calls per layer and backend.
//!
//! Stage: analysis. From: graph calls. To: one [`Graph`] row per layer and backend.

use std::collections::BTreeSet;

use profinfer_trace::model::{Backend, Layer, Model, TopologyId};

/// The calls of one layer on one backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// `scheduler` for complete graphs, `backend` for the splits that a backend computed.
    pub layer: &'static str,
    /// Name of the backend; empty for the scheduler.
    pub backend: String,
    pub calls: u64,
    /// Number of different topologies, as far as the agent read them.
    pub topologies: u64,
    /// Fewest nodes of a call.
    pub min_nodes: u32,
    /// Most nodes of a call.
    pub max_nodes: u32,
    /// Sum of their durations, ns.
    pub time_ns: u64,
}

struct Row {
    key: (Layer, Backend),
    topologies: BTreeSet<TopologyId>,
    sum: Graph,
}

/// Name of a layer in views.
#[must_use]
pub const fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::Scheduler => "scheduler",
        Layer::Backend => "backend",
    }
}

/// One row per layer and backend: the scheduler first, then by time.
#[must_use]
pub fn graphs(model: &Model) -> Vec<Graph> {
    let calls = &model.graph_calls;
    let mut rows: Vec<Row> = Vec::new();
    for i in 0..calls.len() {
        let key = (calls.layer[i], calls.backend[i]);
        // A session has a handful of backends.
        let at = rows.iter().position(|r| r.key == key).unwrap_or_else(|| {
            rows.push(Row { key, topologies: BTreeSet::new(), sum: empty(model, key) });
            rows.len() - 1
        });
        let Row { topologies, sum, .. } = &mut rows[at];
        sum.calls += 1;
        sum.min_nodes = sum.min_nodes.min(calls.n_nodes[i]);
        sum.max_nodes = sum.max_nodes.max(calls.n_nodes[i]);
        sum.time_ns = sum.time_ns.saturating_add(calls.duration_ns[i]);
        topologies.extend(calls.topology[i]);
    }
    rows.sort_by_key(|r| (r.key.0, std::cmp::Reverse(r.sum.time_ns)));
    rows.into_iter().map(|r| Graph { topologies: r.topologies.len() as u64, ..r.sum }).collect()
}

fn empty(model: &Model, (layer, backend): (Layer, Backend)) -> Graph {
    Graph {
        layer: layer_name(layer),
        backend: model.texts.get(backend).to_owned(),
        calls: 0,
        topologies: 0,
        min_nodes: u32::MAX,
        max_nodes: 0,
        time_ns: 0,
    }
}
