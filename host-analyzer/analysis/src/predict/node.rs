//! Nodes of a token with their mean time: the parts of the calls of one kind.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::work::{Work, Works};
use crate::shared::execution::Executions;
use crate::shared::name::without_layer;
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, Role, Topology};

/// One node, over the selected calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Operator as described by the engine; for a fused one, all operators of its kernel, joined by
    /// `+`.
    pub op: String,
    /// Name of its tensor without the layer number.
    pub name: String,
    /// The name had a layer number.
    pub layered: bool,
    /// The matrix that it multiplies with: name and element type; `None` for other nodes.
    pub matrix: Option<(String, String)>,
    /// Elements of that matrix that it reads.
    pub elements: f64,
    /// Elements of its result.
    pub outputs: f64,
    /// Elements of its result per token.
    pub width: u64,
    /// Mean time without probes, ns.
    pub ns: f64,
    /// Bytes of weights that it reads.
    pub weight_bytes: f64,
    /// Bytes of the KV cache that it reads.
    pub cache_bytes: f64,
    /// All bytes that it moves.
    pub bytes: f64,
    pub operations: f64,
}

/// Calls of one kind: the middle half by duration, so that disturbed calls do not count and the
/// parts sum to the total.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Number of calls.
    pub calls: usize,
    /// Tokens per call.
    pub tokens: u64,
    /// Duration of a call without probes, ns.
    pub call_ns: f64,
    /// Time between two nodes, without probes, ns: dispatch, barrier, and the rest of a call.
    pub between_ns: f64,
    /// Its nodes that computed something.
    pub nodes: Vec<Node>,
}

/// A location in the graphs of a call: which graph, and which node.
type Place = (usize, NodeIdx);

#[derive(Default)]
struct Sum {
    node: Node,
    times: f64,
    ns: f64,
    work: [f64; 4],
}

/// Fewest untraced calls whose duration is used.
const FEWEST: usize = 4;

/// The nodes of these `llama_decode` calls, and the duration of a call. It is that of the
/// `untraced` calls if there are enough, else the traced duration minus the cost of a pair of
/// probes per node.
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
    // A node that is not in every call counts by its frequency.
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
    // The probe's addition may exceed the small time of a node.
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
        // A name generated by GGML contains the number of the node instead.
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

/// The tensor whose memory a view shares.
fn shown(topology: &Topology, mut at: NodeIdx) -> NodeIdx {
    // At most one step per tensor, so that a cycle in a damaged stream ends.
    for _ in 0..topology.nodes.len() {
        match topology.node(at).view_of {
            Some(next) if next != at => at = next,
            _ => break,
        }
    }
    at
}
