//! The critical path of a graph, and what could run in parallel with it.
//!
//! Stage: analysis. From: a topology, median wall times of its nodes. To: [`CriticalPath`], and
//! which nodes are on it. Promises: the time of the nodes off the path is the sum minus the path.
//! It is the upper limit of what running branches in parallel can save.
//!
//! A node depends on everything that it reads, which is more than its sources. Views share the
//! memory of another tensor. A node that writes to such memory (`SET_ROWS` or `CPY` into the KV
//! cache, in-place operators) must run after all earlier readers and writers of it, and before all
//! later readers. The part of the memory that a view covers is ignored, so no dependency is missed.

use std::collections::HashMap;

use crate::shared::empty::is_empty_op;
use crate::shared::name::without_layer;
use profinfer_trace::model::{Model, Node, NodeIdx, Topology};

#[derive(Debug, Clone, PartialEq)]
pub struct CriticalPath {
    /// Index of the graph, as in dag.json.
    pub graph: u32,
    /// Nodes with a time.
    pub nodes: u64,
    /// Sum of the nodes' medians, ns.
    pub sum_ns: u64,
    /// The longest chain of dependent nodes, ns.
    pub path_ns: u64,
    /// Nodes with a time on the path.
    pub path_nodes: u64,
    /// Sum divided by path: operators that could run at a time on average; `None` without times.
    pub width_ratio: Option<f64>,
    /// Sum minus path, ns: upper limit of the saving, if all branches ran in parallel without
    /// slowing each other down.
    pub saving_ns: u64,
    /// Nodes off the path, longest time first.
    pub branches: Vec<Branch>,
}

/// Nodes off the path that have the same name except for the layer number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Tensor name without the layer number.
    pub name: String,
    pub op: String,
    /// Number of nodes.
    pub nodes: u64,
    /// Sum of the nodes' medians, ns.
    pub time_ns: u64,
    /// Node on the path during which most of these nodes could run.
    pub parallel_to: Option<String>,
}

/// The path of a graph, and its nodes.
pub(super) struct Found {
    /// By node: on the path.
    pub(super) critical: Vec<bool>,
    pub(super) path: CriticalPath,
}

/// Dependencies of each node.
struct Order {
    waits_for: Vec<Vec<u32>>,
}

impl Order {
    /// `leader[i]` is the node whose execution also computes node i.
    fn compute(model: &Model, topology: &Topology, leader: &[u32]) -> Self {
        let n = topology.n_nodes as usize;
        let mut waits_for: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut last_write: HashMap<u32, u32> = HashMap::new();
        let mut reads: HashMap<u32, Vec<u32>> = HashMap::new();
        for (i, node) in (0_u32..).zip(&topology.nodes[..n]) {
            let mut behind: Vec<u32> = node.src.iter().map(|(_, s)| s.0).filter(|s| *s < i).collect();
            if !is_empty_op(model.texts.get(node.op)) {
                for (_, source) in &node.src {
                    let memory = root(topology, *source);
                    behind.extend(last_write.get(&memory));
                    reads.entry(memory).or_default().push(i);
                }
                // A node that is not a view has its own memory.
                let memory = root(topology, NodeIdx(i));
                if memory != i {
                    behind.extend(last_write.insert(memory, i));
                    behind.extend(reads.remove(&memory).unwrap_or_default());
                }
            }
            // A kernel that computes several nodes waits for the sources of all of them.
            let unit = leader[i as usize];
            let own: Vec<u32> = behind.into_iter().filter(|b| *b != i && *b < unit).collect();
            waits_for[unit as usize].extend(&own);
            if unit != i {
                waits_for[i as usize].push(unit);
            }
        }
        for behind in &mut waits_for {
            behind.sort_unstable();
            behind.dedup();
        }
        Self { waits_for }
    }
}

/// The tensor that owns the memory of a tensor.
fn root(topology: &Topology, NodeIdx(mut i): NodeIdx) -> u32 {
    // A damaged topology may have a cycle.
    for _ in 0..topology.nodes.len() {
        match topology.nodes[i as usize].view_of {
            Some(NodeIdx(of)) if of != i => i = of,
            _ => break,
        }
    }
    i
}

/// The critical path through `topology`, whose nodes take `times`. A node with `fused_with` is
/// computed by the execution of another node.
pub(super) fn find(model: &Model, topology: &Topology, times: &[u64], fused_with: &[Option<u32>]) -> Found {
    let n = topology.n_nodes as usize;
    let leader: Vec<u32> =
        (0_u32..).zip(&fused_with[..n]).map(|(i, with)| with.filter(|w| *w < i).unwrap_or(i)).collect();
    let order = Order::compute(model, topology, &leader);
    let mut ends = vec![0_u64; n];
    let mut before: Vec<Option<u32>> = vec![None; n];
    for i in 0..n {
        let last = order.waits_for[i].iter().copied().max_by_key(|b| ends[*b as usize]);
        before[i] = last;
        ends[i] = last.map_or(0, |b| ends[b as usize]).saturating_add(times[i]);
    }
    let mut critical = vec![false; topology.nodes.len()];
    let mut at = (0..n).max_by_key(|i| ends[*i]);
    let path_ns = at.map_or(0, |i| ends[i]);
    while let Some(i) = at {
        critical[i] = true;
        at = before[i].map(|b| b as usize);
    }
    let sum_ns = times[..n].iter().fold(0_u64, |sum, t| sum.saturating_add(*t));
    let timed = |on: bool| (0..n).filter(|i| times[*i] > 0 && (on || !critical[*i])).count() as u64;
    let path = CriticalPath {
        graph: 0,
        nodes: timed(true),
        sum_ns,
        path_ns,
        path_nodes: timed(true) - timed(false),
        width_ratio: (path_ns > 0).then(|| sum_ns as f64 / path_ns as f64),
        saving_ns: sum_ns.saturating_sub(path_ns),
        branches: branches(model, &topology.nodes[..n], times, &ends, &critical),
    };
    Found { critical, path }
}

/// Time and number of the nodes of one branch, and how long which other nodes run meanwhile.
#[derive(Default)]
struct Sum {
    nodes: u64,
    time_ns: u64,
    parallel_to: HashMap<String, u64>,
}

fn branches(model: &Model, nodes: &[Node], times: &[u64], ends: &[u64], critical: &[bool]) -> Vec<Branch> {
    let name = |i: usize| without_layer(model.texts.get(nodes[i].name));
    // Nodes on the path follow each other without a gap.
    let path: Vec<usize> = (0..nodes.len()).filter(|i| critical[*i] && times[*i] > 0).collect();
    let mut sums: HashMap<(String, &str), Sum> = HashMap::new();
    for i in (0..nodes.len()).filter(|i| !critical[*i] && times[*i] > 0) {
        let sum = sums.entry((name(i), model.texts.get(nodes[i].op))).or_default();
        sum.nodes += 1;
        sum.time_ns = sum.time_ns.saturating_add(times[i]);
        let start = ends[i] - times[i];
        let first = path.partition_point(|p| ends[*p] <= start);
        for p in path[first..].iter().take_while(|p| ends[**p] - times[**p] < ends[i]) {
            let both = ends[*p].min(ends[i]) - (ends[*p] - times[*p]).max(start);
            *sum.parallel_to.entry(name(*p)).or_default() += both;
        }
    }
    let mut rows: Vec<Branch> = sums
        .into_iter()
        .map(|((name, op), sum)| Branch {
            name,
            op: op.to_owned(),
            nodes: sum.nodes,
            time_ns: sum.time_ns,
            parallel_to: sum
                .parallel_to
                .into_iter()
                .max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0)))
                .map(|(name, _)| name),
        })
        .collect();
    rows.sort_by(|a, b| (b.time_ns, &a.name, &a.op).cmp(&(a.time_ns, &b.name, &b.op)));
    rows
}
