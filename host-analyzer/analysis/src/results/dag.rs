//! ProfDAG: the computed graphs, with the time of each node.
//!
//! Stage: analysis. From: groups of graph calls, topologies, sums per node. To: one [`Dag`] per
//! group: the topology that the group computed most often while it was traced; if several, the
//! latest. Promises: `nodes[i].index == i`; edges refer to existing nodes.

use std::collections::BTreeMap;

use super::critical_path::{self, CriticalPath};
use super::module::{Module, Places};
use super::op::share;
use crate::shared::empty::is_empty_op;
use crate::shared::execution::{Executions, waits};
use crate::shared::group::{Groups, context_name};
use crate::shared::phase::Phase;
use crate::shared::tally::{Cell, Computed, Tallies};
use crate::stats::percentile::percentile;
use profinfer_trace::model::{Buffer, Model, Node, NodeIdx, Text, Topology};

#[derive(Debug, Clone, PartialEq)]
pub struct Dag {
    /// Position among the graphs.
    pub id: u32,
    pub phase: Phase,
    pub pid: u32,
    /// Address of the context in hex; `None` for a graph outside of `llama_decode` calls.
    pub context: Option<String>,
    /// Position among the scheduler's splits of the graph, from 0.
    pub split: u32,
    /// Row of the topology in the session.
    pub topology: u32,
    /// Backend of the latest call.
    pub backend: String,
    /// Tokens in the latest call; `None` when unknown.
    pub n_tokens: Option<u32>,
    /// Graph calls with this topology.
    pub calls: u64,
    /// Graph calls whose operators were captured. All times are of these.
    pub traced_calls: u64,
    pub n_nodes: u32,
    pub n_leafs: u32,
    /// The complete topology arrived.
    pub complete: bool,
    /// Its critical path, for graphs that generate tokens and have times.
    pub path: Option<CriticalPath>,
    /// Nodes in the engine's order, then leafs.
    pub nodes: Vec<DagNode>,
    pub edges: Vec<Edge>,
}

/// A tensor of a graph. Times are means over the executions with this topology.
#[derive(Debug, Clone, PartialEq)]
pub struct DagNode {
    /// Position in [`Dag::nodes`].
    pub index: u32,
    pub name: String,
    /// `NONE` for leafs.
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    pub dtype: String,
    /// Elements per dimension.
    pub ne: [u64; 4],
    /// `None` when unknown.
    pub bytes: Option<u64>,
    /// `node`, `weight`, `cache`, `input` or `other`.
    pub role: &'static str,
    /// Memory that holds a weight: `file`, `anonymous`, `device` or `unknown`. `None` for other
    /// tensors, and where the recording has no placement.
    pub memory: Option<&'static str>,
    /// Buffer type that holds a weight, as the engine names it; `None` when unknown.
    pub buffer: Option<String>,
    /// Part of the model that it belongs to.
    pub module: Module,
    /// From 0; `None` outside of the layers.
    pub layer: Option<u32>,
    /// The tensor that it is a view of.
    pub view_of: Option<u32>,
    /// Position in execution order, from 0; `None` for nodes that never run by themselves.
    pub order: Option<u32>,
    /// The node whose execution also computed this one.
    pub fused_with: Option<u32>,
    pub executions: u64,
    /// First start to last end over the threads, ns.
    pub wall_ns: Option<u64>,
    /// Work, summed over the threads, ns.
    pub work_ns: Option<u64>,
    /// Wait at the barrier, summed over the threads, ns.
    pub wait_ns: Option<u64>,
    /// Share of the wall time of all operators of this graph, 0 to 1.
    pub share: f64,
    /// The node ran without a probe: a filter excluded it, or no call of the graph was traced. Its
    /// times are unknown.
    pub not_captured: bool,
    /// On the critical path; `None` where no path was computed.
    pub critical: Option<bool>,
}

/// A node reads a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Index of the tensor.
    pub from: u32,
    /// Index of the node.
    pub to: u32,
    /// Source slot of the node.
    pub slot: u8,
    /// Elements per dimension of the tensor.
    pub ne: [u64; 4],
    /// Element type of the tensor.
    pub dtype: String,
    /// Bytes of the tensor; `None` when unknown.
    pub bytes: Option<u64>,
}

/// The graphs of a session, by group.
#[must_use]
pub fn dags(
    model: &Model,
    groups: &Groups,
    executions: &Executions,
    tallies: &Tallies,
    places: &Places,
) -> Vec<Dag> {
    let placed = |c: &Computed, mut dag: Dag| {
        for (i, node) in (0..).map(NodeIdx).zip(&mut dag.nodes) {
            let place = places.get(c.topology, i);
            (node.module, node.layer) = (place.module, place.layer);
        }
        dag
    };
    let mut dags: Vec<Dag> = (0..groups.rows.len())
        .filter_map(|g| usual(tallies, g))
        .map(|c| placed(c, dag(model, groups, executions, tallies, c)))
        .collect();
    dags.sort_by_key(|d| d.phase);
    for (id, dag) in (0..).zip(&mut dags) {
        dag.id = id;
        if let Some(path) = &mut dag.path {
            path.graph = id;
        }
    }
    dags
}

/// The topology that a group computed most often while it was traced, or else at all; if several,
/// the latest.
fn usual(tallies: &Tallies, group: usize) -> Option<&Computed> {
    let of_group = |c: &&Computed| c.group.0 as usize == group;
    tallies.computed.iter().filter(of_group).max_by_key(|c| (c.traced_calls, c.calls, c.last_call))
}

fn dag(model: &Model, groups: &Groups, executions: &Executions, tallies: &Tallies, c: &Computed) -> Dag {
    let group = groups.get(c.group);
    let topology = model.topologies.get(c.topology);
    let last_call = c.last_call.0 as usize;
    let n_tokens = model.graph_calls.n_tokens[last_call];
    let fused_with = fused_with(model, topology, tallies.cells(c));
    let generates = matches!(group.phase, Phase::Decode | Phase::BatchDecode);
    // If nodes were excluded, chains have holes.
    let whole = topology.complete && !model.capture.nodes_left_out();
    let found = (generates && whole && c.fullest_call.is_some())
        .then(|| critical_path::find(model, topology, &medians(executions, tallies, c), &fused_with));
    let mut nodes =
        nodes(model, topology, tallies.cells(c), &order(model, executions, c, topology), &fused_with);
    for (node, critical) in nodes.iter_mut().zip(found.iter().flat_map(|f| &f.critical)) {
        node.critical = Some(*critical);
    }
    Dag {
        id: 0,
        phase: group.phase,
        pid: group.pid,
        context: context_name(group.context),
        split: group.split,
        topology: c.topology.0,
        backend: model.texts.get(model.graph_calls.backend[last_call]).to_owned(),
        n_tokens: (n_tokens != 0).then_some(n_tokens),
        calls: c.calls,
        traced_calls: c.traced_calls,
        n_nodes: topology.n_nodes,
        n_leafs: index(topology.nodes.len()).saturating_sub(topology.n_nodes),
        complete: topology.complete,
        path: found.map(|f| f.path),
        nodes,
        edges: edges(model, topology),
    }
}

/// The median wall time (ns) of each node over the executions of this topology; 0 for nodes that
/// never run.
fn medians(executions: &Executions, tallies: &Tallies, c: &Computed) -> Vec<u64> {
    let cells = c.cell_range();
    let room = |cell: &Cell| Vec::with_capacity(usize::try_from(cell.executions).unwrap_or(0));
    let mut times: Vec<Vec<u64>> = tallies.cells(c).iter().map(room).collect();
    for (_, rows) in executions.by_call() {
        let of_call = &tallies.cell_of_execution[rows.clone()];
        if !of_call.first().is_some_and(|cell| cells.contains(&(*cell as usize))) {
            continue;
        }
        for (cell, wall_ns) in of_call.iter().zip(&executions.wall_ns[rows]) {
            times[*cell as usize - cells.start].push(*wall_ns);
        }
    }
    times.iter_mut().map(|t| percentile(t, 50).unwrap_or(0)).collect()
}

fn nodes(
    model: &Model,
    topology: &Topology,
    cells: &[Cell],
    order: &[Option<u32>],
    fused_with: &[Option<u32>],
) -> Vec<DagNode> {
    let text = |t: Text| model.texts.get(t).to_owned();
    let whole = cells.iter().fold(0_u64, |sum, c| sum.saturating_add(c.wall_ns));
    // Untraced: with a duty, a graph that was never traced; with a filter, a node that no trace of
    // the graph has.
    let untraced = !model.duty.switches.is_empty() && cells.iter().all(|c| c.executions == 0);
    let left_out = model.capture.operators_left_out() || untraced;
    topology
        .nodes
        .iter()
        .zip(cells)
        .enumerate()
        .map(|(i, (node, cell))| DagNode {
            index: index(i),
            name: text(node.name),
            op: text(node.op),
            desc: text(node.desc),
            dtype: text(node.dtype),
            ne: node.ne,
            bytes: (node.bytes != 0).then_some(node.bytes),
            role: node.role.name(),
            memory: buffer(model, node).map(|b| b.memory.name()),
            buffer: buffer(model, node).map(|b| b.kind.clone()).filter(|kind| !kind.is_empty()),
            module: Module::default(),
            layer: None,
            view_of: node.view_of.map(|v| v.0),
            order: order[i],
            fused_with: fused_with[i],
            executions: cell.executions,
            wall_ns: mean(cell.wall_ns, cell.executions),
            work_ns: mean(cell.work_ns, cell.executions),
            wait_ns: waits(model, cell.wait_ns).and_then(|ns| mean(ns, cell.executions)),
            share: share(cell.wall_ns, whole),
            not_captured: left_out
                && i < topology.n_nodes as usize
                && cell.executions == 0
                && fused_with[i].is_none()
                && !is_empty_op(model.texts.get(node.op)),
            critical: None,
        })
        .collect()
}

fn buffer<'m>(model: &'m Model, node: &Node) -> Option<&'m Buffer> {
    model.buffers.get(node.buffer?.0 as usize)
}

/// The position of each node in execution order, from the fullest call: the first start of a node
/// over all threads. A barrier separates any two nodes, so every thread has the same order.
fn order(model: &Model, executions: &Executions, c: &Computed, topology: &Topology) -> Vec<Option<u32>> {
    let mut order = vec![None; topology.nodes.len()];
    let Some(call) = c.fullest_call else { return order };
    let mut starts: BTreeMap<NodeIdx, u64> = BTreeMap::new();
    for i in executions.spans_of(call) {
        let start = starts.entry(model.spans.node[i]).or_insert(u64::MAX);
        *start = model.spans.start_ns[i].min(*start);
    }
    let mut rows: Vec<(u64, NodeIdx)> = starts.into_iter().map(|(node, start)| (start, node)).collect();
    rows.sort_unstable();
    for (position, (_, node)) in (0..).zip(rows) {
        order[node.0 as usize] = Some(position);
    }
    order
}

/// For each node that the execution of another node computed, that other node.
fn fused_with(model: &Model, topology: &Topology, cells: &[Cell]) -> Vec<Option<u32>> {
    let mut with = vec![None; cells.len()];
    for (first, cell) in (0_u32..).zip(cells).filter(|(_, c)| c.executions > 0) {
        for i in first.saturating_add(1)..=cell.last_node {
            let node = topology.node(NodeIdx(i));
            if cells[i as usize].executions == 0 && !is_empty_op(model.texts.get(node.op)) {
                with[i as usize] = Some(first);
            }
        }
    }
    with
}

fn edges(model: &Model, topology: &Topology) -> Vec<Edge> {
    let of_node = |(to, node): (usize, &Node)| {
        let edge = move |(slot, from): &(u8, NodeIdx)| {
            let read = topology.node(*from);
            Edge {
                from: from.0,
                to: index(to),
                slot: *slot,
                ne: read.ne,
                dtype: model.texts.get(read.dtype).to_owned(),
                bytes: (read.bytes != 0).then_some(read.bytes),
            }
        };
        node.src.iter().map(edge).collect::<Vec<_>>()
    };
    topology.nodes.iter().enumerate().flat_map(of_node).collect()
}

fn mean(sum: u64, n: u64) -> Option<u64> {
    (n > 0).then(|| sum.saturating_add(n / 2) / n)
}

fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}
