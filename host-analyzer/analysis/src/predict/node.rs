//! Nodes of a token with their mean time: what calls of one kind are made of.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::work::{Work, Works};
use crate::shared::execution::Executions;
use crate::shared::name::without_layer;
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, Role, Topology};

/// One node, over the calls that are looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Operator as the engine describes it; of a fused one all that its kernel computes, joined by `+`.
    pub op: String,
    /// Name of its tensor without the number of the layer.
    pub name: String,
    /// The name had such a number.
    pub layered: bool,
    /// The matrix that it multiplies with: name and element type; `None` of other nodes.
    pub matrix: Option<(String, String)>,
    /// Elements of that matrix that it reads.
    pub elements: f64,
    /// Elements of its result.
    pub outputs: f64,
    /// The same for each token.
    pub width: u64,
    /// Mean time without probes, ns.
    pub ns: f64,
    /// Bytes of weights that it reads.
    pub weight_bytes: f64,
    /// Bytes of the KV cache that it reads.
    pub cache_bytes: f64,
    /// Bytes that it moves in all.
    pub bytes: f64,
    /// Operations.
    pub operations: f64,
}

/// Calls of one kind: the middle half of them by length, so that no call that was disturbed counts, and the parts sum to the whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// How many calls.
    pub calls: usize,
    /// Tokens in each.
    pub tokens: u64,
    /// Time of a call without probes, ns.
    pub call_ns: f64,
    /// Time between two nodes: dispatch, barrier, and what else a call does, without probes, ns.
    pub between_ns: f64,
    /// Its nodes that computed something.
    pub nodes: Vec<Node>,
}

/// A place in the graphs of a call: which graph, and which node.
type Place = (usize, NodeIdx);

#[derive(Default)]
struct Sum {
    node: Node,
    times: f64,
    ns: f64,
    work: [f64; 4],
}

/// Fewest untraced calls whose time is taken.
const FEWEST: usize = 4;

/// The nodes of these token calls, and the time of a call: that of `untraced` calls where there are some, else without what a pair of probes costs
/// for each node.
pub(super) fn measured(
    model: &Model,
    executions: &Executions,
    works: &Works,
    calls: &[usize],
    untraced: &[usize],
) -> Measured {
    let (inside, pair) =
        model.health.probe_cost.map_or((0.0, 0.0), |c| (c.inside_ns as f64, c.pair_ns as f64));
    let chosen: BTreeSet<usize> = calls.iter().copied().collect();
    let mut sums: BTreeMap<Place, Sum> = BTreeMap::new();
    let (mut last, mut graph) = (None, 0);
    for (call, rows) in executions.by_call() {
        let c = call.0 as usize;
        let (Some(decode), Some(topology)) = (model.graph_calls.decode[c], model.graph_calls.topology[c])
        else {
            continue;
        };
        if !chosen.contains(&(decode.0 as usize)) {
            continue;
        }
        graph = if last == Some(decode) { graph + 1 } else { 0 };
        last = Some(decode);
        let topology = model.topologies.get(topology);
        for row in rows {
            let (first, end) = (executions.node[row], executions.last_node[row]);
            let sum = sums.entry((graph, first)).or_default();
            let work = works.execution(model, call, first, end);
            if sum.times == 0.0 {
                sum.node = describe(model, topology, call, first, end, &work);
            }
            sum.times += 1.0;
            sum.ns += executions.wall_ns[row] as f64;
            let of = [work.weight_bytes, work.cache_bytes, work.bytes(), work.operations];
            sum.work.iter_mut().zip(of).for_each(|(sum, n)| *sum += n as f64);
        }
    }
    let n = calls.len().max(1) as f64;
    // A node that is not in each call counts by how often it is.
    let nodes: Vec<Node> =
        sums.into_values().filter(|s| s.times >= n / 2.0).map(|s| mean(s, inside)).collect();
    let count = nodes.len() as f64;
    let time = |calls: &[usize]| {
        calls.iter().map(|i| model.llama_calls.duration_ns[*i] as f64).sum::<f64>()
            / calls.len().max(1) as f64
    };
    let call_ns =
        if untraced.len() < FEWEST { (time(calls) - pair * count).max(0.0) } else { time(untraced) };
    let inside_nodes: f64 = nodes.iter().map(|node| node.ns).sum();
    Measured {
        calls: calls.len(),
        tokens: calls.first().map_or(0, |i| model.llama_calls.n_tokens[*i].into()),
        call_ns,
        between_ns: ((call_ns - inside_nodes) / count.max(1.0)).max(0.0),
        nodes,
    }
}

fn mean(sum: Sum, inside: f64) -> Node {
    let [weight_bytes, cache_bytes, bytes, operations] = sum.work.map(|n| n / sum.times);
    // What a probe adds may be more than the little that a node does.
    let ns = (sum.ns / sum.times - inside).max(0.0);
    Node { ns, weight_bytes, cache_bytes, bytes, operations, ..sum.node }
}

fn describe(
    model: &Model,
    topology: &Topology,
    call: GraphCallId,
    first: NodeIdx,
    last: NodeIdx,
    work: &Work,
) -> Node {
    let node = topology.node(first);
    let text = |t| model.texts.get(t);
    let mut op = text(node.desc).to_owned();
    if last != first {
        op = format!("{op}+{}", text(topology.node(last).desc));
    }
    let product = matches!(text(node.op), "MUL_MAT" | "MUL_MAT_ID") && work.weight_bytes > 0;
    let weight =
        node.src.iter().map(|(_, n)| topology.node(shown(topology, *n))).find(|n| n.role == Role::Weight);
    let held = weight.filter(|_| product);
    let tokens = model.graph_calls.n_tokens[call.0 as usize].max(1);
    let elements = |ne: [u64; 4]| ne.iter().fold(1_u64, |product, n| product.saturating_mul(*n));
    let name = without_layer(text(node.name));
    Node {
        op,
        // What the engine did not name has the number of the node instead.
        layered: name != text(node.name) && !matches!(name.as_str(), "node" | "leaf"),
        name,
        matrix: held.map(|w| (text(w.name).to_owned(), text(w.dtype).to_owned())),
        elements: held
            .map_or(0.0, |w| elements(w.ne) as f64 * work.weight_bytes as f64 / w.bytes.max(1) as f64),
        outputs: elements(node.ne) as f64,
        width: elements(node.ne) / u64::from(tokens),
        ..Node::default()
    }
}

/// The tensor whose memory a view shows.
fn shown(topology: &Topology, mut at: NodeIdx) -> NodeIdx {
    // As many steps as there are tensors, so that a circle in a foreign stream ends.
    for _ in 0..topology.nodes.len() {
        match topology.node(at).view_of {
            Some(next) if next != at => at = next,
            _ => break,
        }
    }
    at
}
