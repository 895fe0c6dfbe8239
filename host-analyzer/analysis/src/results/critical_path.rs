//! The critical path of a graph, and what beside it could run side by side.
//!
//! Stage: analysis. From: a topology, median wall times of its nodes. To: [`CriticalPath`], and which
//! nodes are on it. Promises: the time of the nodes off the path is the sum less the path, so it is the most that running
//! branches side by side can save.
//!
//! A node depends on what it reads. That is not only its sources: views share the memory of another tensor, and what writes to such
//! memory (`SET_ROWS` or `CPY` into the KV cache, operators in place) must be behind whatever read or wrote it before, and before
//! whatever reads it later. Which part of the memory a view covers is not looked at, so that no dependency is missed.

use std::collections::HashMap;

use crate::shared::empty::is_empty_op;
use crate::shared::name::without_layer;
use profinfer_trace::model::{Model, Node, NodeIdx, Topology};

/// The critical path of one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalPath {
    /// The graph, as in dag.json.
    pub graph: u32,
    /// Nodes with a time.
    pub nodes: u64,
    /// Sum of their medians, ns.
    pub sum_ns: u64,
    /// The longest chain of nodes that wait for each other, ns.
    pub path_ns: u64,
    /// Nodes with a time on it.
    pub path_nodes: u64,
    /// Sum divided by path: how many operators could run at a time on average; `None` without times.
    pub width_ratio: Option<f64>,
    /// Sum less path: saved at most if all branches ran side by side and none slowed down another, ns.
    pub saving_ns: u64,
    /// What is off the path, the longest time first.
    pub branches: Vec<Branch>,
}

/// Nodes off the path that have the same name but for the layer's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Tensor name without the layer's number.
    pub name: String,
    /// Operator.
    pub op: String,
    /// How many there are.
    pub nodes: u64,
    /// Sum of their medians, ns.
    pub time_ns: u64,
    /// What is on the path while most of them could run.
    pub beside: Option<String>,
}

/// Path and flags of a graph.
pub(super) struct Found {
    /// By node: on the path.
    pub(super) critical: Vec<bool>,
    pub(super) path: CriticalPath,
}

/// What each node waits for.
struct Order {
    waits_for: Vec<Vec<u32>>,
}

impl Order {
    /// `leader[i]` is the node whose execution computes node i too.
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
                // A node without a view of another has memory of its own.
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

/// The tensor whose memory a tensor lies in.
fn root(topology: &Topology, NodeIdx(mut i): NodeIdx) -> u32 {
    // A foreign topology may have a circle.
    for _ in 0..topology.nodes.len() {
        match topology.nodes[i as usize].view_of {
            Some(NodeIdx(of)) if of != i => i = of,
            _ => break,
        }
    }
    i
}

/// The path through `topology`, whose nodes take `times`; those with `fused_with` are computed with another one.
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

/// Time of the nodes of one branch, how many there are, and for how long which others run meanwhile.
#[derive(Default)]
struct Sum {
    nodes: u64,
    time_ns: u64,
    beside: HashMap<String, u64>,
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
            *sum.beside.entry(name(*p)).or_default() += both;
        }
    }
    let mut rows: Vec<Branch> = sums
        .into_iter()
        .map(|((name, op), sum)| Branch {
            name,
            op: op.to_owned(),
            nodes: sum.nodes,
            time_ns: sum.time_ns,
            beside: sum.beside.into_iter().max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0))).map(|(name, _)| name),
        })
        .collect();
    rows.sort_by(|a, b| (b.time_ns, &a.name, &a.op).cmp(&(a.time_ns, &b.name, &b.op)));
    rows
}
