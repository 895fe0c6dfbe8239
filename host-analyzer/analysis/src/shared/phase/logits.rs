//! Number of tokens of a call that have logits: those that the batch requests an output for, else
//! the rows of the graph's last product, with the output head of the model.
//!
//! Since early 2024, llama.cpp computes logits only for the tokens that request them. It selects
//! these by an input that has a name in some releases only. Older engines compute logits for all
//! tokens, so their rows show nothing.

use std::collections::HashSet;

use profinfer_trace::model::{Layer, Model, Node, NodeIdx, Text, Topology};

/// Names of the tensor with the logits, and of the weights of its product.
const LOGITS: &str = "result_output";
const HEAD: &str = "output.weight";
/// By row of `llama_calls`; `None` where a graph was not completely read, or has no output head.
pub(super) fn rows(model: &Model) -> Vec<Option<u64>> {
    let mut all = vec![None; model.llama_calls.len()];
    let picking: HashSet<u32> =
        model.topologies.iter().filter(|(_, t)| picks(model, t)).map(|(_, t)| t.pid).collect();
    let heads: Vec<Option<u64>> = model
        .topologies
        .iter()
        .map(|(_, t)| picking.contains(&t.pid).then(|| head_rows(model, t)).flatten())
        .collect();
    // A `llama_decode` call with a long batch computes several graphs, and each has an output head.
    let calls = &model.graph_calls;
    let mut sums = vec![(0_u32, 0_u32, 0_u32, 0_u64); all.len()];
    for i in 0..calls.len() {
        let Some(decode) = calls.decode[i] else { continue };
        let (whole, parts, seen, rows) = &mut sums[decode.0 as usize];
        match calls.layer[i] {
            Layer::Scheduler => *whole += 1,
            Layer::Backend => *parts += 1,
        }
        if let (Layer::Backend, Some(topology)) = (calls.layer[i], calls.topology[i])
            && let Some(of_head) = heads[topology.0 as usize]
        {
            *seen += 1;
            *rows = rows.saturating_add(of_head);
        }
    }
    for (i, (rows, (whole, parts, seen, sum))) in all.iter_mut().zip(sums).enumerate() {
        let graphs = if whole > 0 { whole } else { parts };
        *rows = requested(model, i).or((graphs > 0 && seen == graphs).then_some(sum));
    }
    all
}

/// By row of `llama_calls`: one of its graphs is known to compute logits.
pub(crate) fn computed(model: &Model) -> Vec<bool> {
    any_graph(model, |topology| head_rows(model, topology).is_some())
}

/// By row of `llama_calls`: whether the topology of one of its graphs is of a kind.
fn any_graph(model: &Model, is: impl Fn(&Topology) -> bool) -> Vec<bool> {
    let topologies: Vec<bool> = model.topologies.iter().map(|(_, t)| is(t)).collect();
    let mut all = vec![false; model.llama_calls.len()];
    let calls = &model.graph_calls;
    for i in 0..calls.len() {
        if let (Some(decode), Some(topology)) = (calls.decode[i], calls.topology[i]) {
            all[decode.0 as usize] |= topologies[topology.0 as usize];
        }
    }
    all
}

/// By row of `llama_calls`: one of its graphs ends with the product of all tokens and the table in which it
/// looked them up. In whisper.cpp, no name identifies this product.
pub(super) fn of_all_tokens(model: &Model) -> Vec<bool> {
    let ends = |t: &Topology| {
        let table = |n: &Node| n.src.iter().find(|(slot, _)| *slot == 0).map(|(_, source)| *source);
        let ends = t.nodes.first().zip((t.n_nodes as usize).checked_sub(1).and_then(|i| t.nodes.get(i)));
        t.complete
            && ends.is_some_and(|(first, last)| {
                model.texts.get(first.op) == "GET_ROWS"
                    && model.texts.get(last.op) == "MUL_MAT"
                    && table(first).is_some()
                    && table(first) == table(last)
                    && first.ne[1] == last.ne[1]
            })
    };
    any_graph(model, ends)
}

/// Outputs that the batch of a call requests; `None` if not all of its tokens were recorded.
fn requested(model: &Model, call: usize) -> Option<u64> {
    let parts = model.parts.of_row(call);
    let tokens: u64 = model.parts.n[parts.clone()].iter().map(|n| u64::from(*n)).sum();
    if tokens == 0 || tokens != u64::from(model.llama_calls.n_tokens[call]) {
        return None;
    }
    parts.map(|i| model.parts.outputs[i].map(u64::from)).sum()
}

/// Whether a graph selects tokens: it takes rows of a computed tensor by an input. Rows of weights
/// are embeddings, and rows of a cache are states of sequences.
fn picks(model: &Model, topology: &Topology) -> bool {
    let n = topology.n_nodes;
    topology.nodes[..n as usize].iter().any(|node| {
        let source = |slot| node.src.iter().find(|(s, _)| *s == slot).map(|(_, i)| *i);
        let computed = |i: NodeIdx| {
            let tensor = topology.node(i);
            i.0 < n && tensor.view_of.is_none_or(|of| of.0 < n)
        };
        model.texts.get(node.op) == "GET_ROWS"
            && source(0).is_some_and(computed)
            && source(1).is_some_and(|i| i.0 >= n)
    })
}

fn head_rows(model: &Model, topology: &Topology) -> Option<u64> {
    let nodes = &topology.nodes[..topology.n_nodes as usize];
    let is = |text: Text, name: &str| model.texts.get(text) == name;
    let named = nodes.iter().rev().find(|n| is(n.name, LOGITS));
    let head = named.or_else(|| {
        let weights = |n: &&Node| {
            let first = n.src.iter().find(|(slot, _)| *slot == 0);
            is(n.op, "MUL_MAT") && first.is_some_and(|(_, s)| is(topology.node(*s).name, HEAD))
        };
        nodes.iter().rev().find(weights)
    });
    topology.complete.then_some(head?.ne[1])
}
