//! Nodes of a token with their usual time: the parts of the calls of one kind.

use std::collections::BTreeMap;

use crate::replay::{CallReplay, ClassTimes, Replay};
use crate::shared::name::without_layer;
use crate::stats::percentile::percentile;
use profinfer_trace::model::{GraphCallId, Model, NodeIdx, Role, Topology};

/// One node. Its figures are those of its class in the replay.
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
    /// Usual time, ns.
    pub ns: f64,
    /// Bytes of weights that it reads.
    pub weight_bytes: f64,
    /// Bytes of the KV cache that it reads.
    pub cache_bytes: f64,
    /// All bytes that it moves.
    pub bytes: f64,
    pub operations: f64,
}

/// Calls of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Number of captured calls.
    pub calls: usize,
    /// Tokens per call.
    pub tokens: u64,
    /// Usual duration of a call, ns: without probes and without what delayed it.
    pub call_ns: f64,
    /// Time between two nodes, without probes, ns: dispatch, barrier, and the rest of a call.
    pub between_ns: f64,
    /// Its nodes that computed something.
    pub nodes: Vec<Node>,
}

/// Fewest untraced calls whose duration is used.
const FEWEST: usize = 4;

/// The nodes of these captured calls, and the duration of a call. With enough `untraced` calls,
/// these show what the probes take; else it is the measured cost of a pair of probes per node.
pub(super) fn measured(
    model: &Model,
    replay: &Replay,
    calls: &[&CallReplay],
    untraced: &[&CallReplay],
) -> Measured {
    let Some(last) = calls.last() else { return Measured::default() };
    let times = &replay.class_times[last.phase.index()];
    let nodes: Vec<Node> = model
        .spans
        .by_call()
        .filter(|(graph, _)| model.graph_calls.decode[graph.0 as usize] == Some(last.call))
        .flat_map(|(graph, rows)| nodes(model, replay, times, graph, rows))
        .collect();
    let mean =
        |of: fn(&CallReplay) -> u64| calls.iter().map(|c| of(c) as f64).sum::<f64>() / calls.len() as f64;
    let with_probes = mean(|c| c.usual.total().saturating_add(c.preparation_ns));
    let call_ns = match median_ns(untraced).zip(median_ns(calls)).filter(|_| untraced.len() >= FEWEST) {
        Some((without, with)) => with_probes * without / with,
        None => with_probes - mean(|c| c.usual.probes),
    };
    let inside_nodes: f64 = nodes.iter().map(|node| node.ns).sum();
    Measured {
        calls: calls.len(),
        tokens: model.llama_calls.n_tokens[last.call.0 as usize].into(),
        call_ns,
        between_ns: ((call_ns - inside_nodes) / nodes.len().max(1) as f64).max(0.0),
        nodes,
    }
}

/// Median duration of calls without what delayed them, ns.
fn median_ns(calls: &[&CallReplay]) -> Option<f64> {
    let mut times: Vec<u64> = calls.iter().map(|c| c.alone_ns()).collect();
    percentile(&mut times, 50).filter(|ns| *ns > 0).map(|ns| ns as f64)
}

/// The nodes of one graph call that were captured.
fn nodes(
    model: &Model,
    replay: &Replay,
    times: &[ClassTimes],
    graph: GraphCallId,
    rows: std::ops::Range<usize>,
) -> Vec<Node> {
    let Some(id) = model.graph_calls.topology[graph.0 as usize] else { return Vec::new() };
    let (topology, classes) = (model.topologies.get(id), replay.classes_of(id));
    let tokens = model.graph_calls.n_tokens[graph.0 as usize].max(1);
    let mut executed: BTreeMap<NodeIdx, NodeIdx> = BTreeMap::new();
    for i in rows {
        let last = executed.entry(model.spans.node[i]).or_insert(model.spans.last_node[i]);
        *last = model.spans.last_node[i].max(*last);
    }
    let of = |(first, last): (NodeIdx, NodeIdx)| {
        let times = times.get(classes.get(first.0 as usize)?.0 as usize).filter(|t| t.instances > 0)?;
        Some(describe(model, topology, tokens, (first, last), times))
    };
    executed.into_iter().filter_map(of).collect()
}

fn describe(
    model: &Model,
    topology: &Topology,
    tokens: u32,
    (first, last): (NodeIdx, NodeIdx),
    times: &ClassTimes,
) -> Node {
    let node = topology.node(first);
    let text = |t| model.texts.get(t);
    let mut op = text(node.desc).to_owned();
    if last != first {
        op = format!("{op}+{}", text(topology.node(last).desc));
    }
    let work = &times.work;
    let each = |n: u64| n as f64 / times.instances as f64;
    let product = matches!(text(node.op), "MUL_MAT" | "MUL_MAT_ID") && work.weight_bytes > 0;
    let weight =
        node.src.iter().map(|(_, n)| topology.node(shown(topology, *n))).find(|n| n.role == Role::Weight);
    let held = weight.filter(|_| product);
    let elements = |ne: [u64; 4]| ne.iter().fold(1_u64, |product, n| product.saturating_mul(*n));
    let name = without_layer(text(node.name));
    Node {
        op,
        // A name generated by GGML contains the number of the node instead.
        layered: name != text(node.name) && !matches!(name.as_str(), "node" | "leaf"),
        name,
        matrix: held.map(|w| (text(w.name).to_owned(), text(w.dtype).to_owned())),
        elements: held
            .map_or(0.0, |w| elements(w.ne) as f64 * each(work.weight_bytes) / w.bytes.max(1) as f64),
        outputs: elements(node.ne) as f64,
        width: elements(node.ne) / u64::from(tokens),
        ns: each(times.usual.work.saturating_add(times.usual.imbalance)),
        weight_bytes: each(work.weight_bytes),
        cache_bytes: each(work.cache_bytes),
        bytes: each(work.bytes()),
        operations: each(work.operations),
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
