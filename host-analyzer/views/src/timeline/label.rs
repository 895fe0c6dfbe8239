//! Name, categories and arguments of slices.

use profinfer_analysis::graph::layer_name;
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_analysis::track::Slice;
use profinfer_trace::model::{
    GraphCallId, Layer, LlamaCallId, Model, Node, NodeIdx, SpanId, Topology, TopologyId,
};

/// Name of the slices between operators.
const BARRIER: &str = "barrier";
/// Argument of operators and states: the CPU; of operators the one on which the work ended.
pub(super) const CPU: &str = "cpu";
/// Argument of operators: the work began on another CPU.
pub(super) const MIGRATED: &str = "migrated";

/// Value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
}

/// The texts of a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) name: String,
    /// Level, or for operators the operator, and its description if that differs.
    pub(super) categories: Vec<String>,
    pub(super) args: Vec<(&'static str, Value)>,
}

/// The label of a slice of a track, without its CPU.
pub(super) fn slice(model: &Model, phases: &Phases, slice: Slice) -> Label {
    match slice {
        Slice::Decode(id) => decode(model, phases, id),
        Slice::Graph(id) => graph(model, id),
        Slice::Barrier(_) => barrier(),
        Slice::Work(SpanId(i)) => {
            let (spans, i) = (&model.spans, i as usize);
            let topology = model.graph_calls.topology[spans.graph_call[i].0 as usize];
            operator(model, topology, spans.node[i], spans.last_node[i])
        }
    }
}

fn decode(model: &Model, phases: &Phases, LlamaCallId(id): LlamaCallId) -> Label {
    let (calls, i) = (&model.llama_calls, id as usize);
    let name = match phases.llama_calls[i] {
        Phase::Prefill => format!("prefill n={}", calls.n_tokens[i]),
        Phase::BatchDecode => format!("batch decode n={}", calls.n_tokens[i]),
        Phase::Draft if calls.n_tokens[i] > 1 => format!("draft n={}", calls.n_tokens[i]),
        Phase::Draft => "draft".to_owned(),
        Phase::WarmUp => format!("warm-up n={}", calls.n_tokens[i]),
        Phase::Decode | Phase::Encode => phases.llama_calls[i].name().to_owned(),
        Phase::Unknown => calls.function[i].name().to_owned(),
    };
    let mut args = vec![
        ("call", Value::Number(i64::from(id))),
        ("function", Value::Text(calls.function[i].name().to_owned())),
        ("context", Value::Text(format!("{:#x}", calls.context[i]))),
    ];
    if calls.n_tokens[i] != 0 {
        args.push(("n_tokens", Value::Number(i64::from(calls.n_tokens[i]))));
    }
    args.push(("status", Value::Number(i64::from(calls.status[i]))));
    Label { name, categories: vec!["token".to_owned()], args }
}

fn graph(model: &Model, GraphCallId(id): GraphCallId) -> Label {
    let (calls, i) = (&model.graph_calls, id as usize);
    let layer = layer_name(calls.layer[i]);
    let backend = model.texts.get(calls.backend[i]);
    let whose = if calls.layer[i] == Layer::Scheduler || backend.is_empty() { layer } else { backend };
    let n_nodes = calls.n_nodes[i];
    let name = format!("graph {whose} ({n_nodes} node{})", if n_nodes == 1 { "" } else { "s" });
    let mut args = vec![("layer", Value::Text(layer.to_owned()))];
    if !backend.is_empty() {
        args.push(("backend", Value::Text(backend.to_owned())));
    }
    args.push(("n_nodes", Value::Number(i64::from(n_nodes))));
    if calls.n_tokens[i] != 0 {
        args.push(("n_tokens", Value::Number(i64::from(calls.n_tokens[i]))));
    }
    if let Some(TopologyId(topology)) = calls.topology[i] {
        args.push(("topology", Value::Number(i64::from(topology))));
    }
    Label { name, categories: vec!["graph".to_owned()], args }
}

/// The label of a wait at the barrier.
pub(super) fn barrier() -> Label {
    Label { name: BARRIER.to_owned(), categories: vec![BARRIER.to_owned()], args: Vec::new() }
}

/// The label of an operator that computed the nodes from `node` to `last` in one go.
pub(super) fn operator(model: &Model, topology: Option<TopologyId>, node: NodeIdx, last: NodeIdx) -> Label {
    let topology = topology.and_then(|id| model.topologies.rows.get(id.0 as usize));
    let Some((topology, tensor)) = topology.and_then(|s| Some((s, s.nodes.get(node.0 as usize)?))) else {
        return Label { name: lost(node), categories: Vec::new(), args: Vec::new() };
    };
    let (op, desc) = (model.texts.get(tensor.op), model.texts.get(tensor.desc));
    let mut categories = vec![op];
    categories.extend(Some(desc).filter(|d| *d != op));
    let mut args = Vec::new();
    if !is_lost(model, tensor) {
        args.push(("tensor", Value::Text(tensor_text(model, topology, tensor))));
    }
    if last != node {
        args.push(("fused", Value::Text(node_name(model, topology, last))));
    }
    Label {
        name: node_name(model, topology, node),
        categories: categories.into_iter().filter(|c| !c.is_empty()).map(str::to_owned).collect(),
        args,
    }
}

/// The tensor's name. A tensor without a name is identified by its operator and index.
fn node_name(model: &Model, topology: &Topology, idx: NodeIdx) -> String {
    let Some(node) = topology.nodes.get(idx.0 as usize) else { return lost(idx) };
    match (model.texts.get(node.name), model.texts.get(node.op)) {
        ("", "") => lost(idx),
        ("", op) => format!("{op} (node {})", idx.0),
        (name, _) => name.to_owned(),
    }
}

/// The node's description did not arrive.
fn is_lost(model: &Model, node: &Node) -> bool {
    model.texts.get(node.name).is_empty() && model.texts.get(node.op).is_empty()
}

fn lost(NodeIdx(i): NodeIdx) -> String {
    format!("node {i} (description lost)")
}

/// Type and dimensions of a tensor and of its sources.
fn tensor_text(model: &Model, topology: &Topology, tensor: &Node) -> String {
    let mut text = type_and_dimensions(model, tensor);
    for (n, (_, src)) in tensor.src.iter().enumerate() {
        text.push_str(if n == 0 { " from " } else { ", " });
        text.push_str(&node_name(model, topology, *src));
        if let Some(src) = topology.nodes.get(src.0 as usize).filter(|s| !is_lost(model, s)) {
            text.push(' ');
            text.push_str(&type_and_dimensions(model, src));
        }
    }
    text
}

/// For example `f32 576x8`: dimensions from the fastest, without ones at the end.
fn type_and_dimensions(model: &Model, tensor: &Node) -> String {
    let used = tensor.ne.iter().rposition(|n| *n != 1).unwrap_or(0);
    let ne: Vec<String> = tensor.ne[..=used].iter().map(u64::to_string).collect();
    format!("{} {}", model.texts.get(tensor.dtype), ne.join("x"))
}
