//! `graphs`: calls of complete graphs and of their splits.

use super::Publish;
use profinfer_analysis::graph;

fields! {
    graph::Graph => GraphRow { layer, backend, calls, topologies, min_nodes, max_nodes, time_ns }
}
