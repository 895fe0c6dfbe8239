//! The context of each `llama_decode` call: the tokens before it, and the KV cells that its
//! attention covers.
//!
//! The position comes from the batch, else from the first graph that computes tokens, whose rotary
//! embedding reads their positions. That of a graph that shifts a context reads by how much its cells move.
//! One dimension of attention is the number of cells.

use std::collections::HashSet;

use super::shift::shift_graphs;
use profinfer_trace::model::{LlamaCallId, Model, NodeIdx, Text, Topology};

/// The context of one `llama_decode` call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// Position of the first token.
    pub(crate) n_past: Option<u32>,
    /// Cells of the last graph. The number grows from graph to graph.
    pub(crate) n_kv: Option<u64>,
}

/// By row of `llama_calls`.
pub(crate) fn contexts(model: &Model) -> Vec<Context> {
    let mut all = vec![Context::default(); model.llama_calls.len()];
    let cells: Vec<Option<u64>> = {
        let of = Operators::compute(model);
        model.topologies.iter().map(|(_, topology)| of.cells(topology)).collect()
    };
    for (call, context) in (0..).map(LlamaCallId).zip(&mut all) {
        context.n_past = model.parts.of(call).find_map(|i| u32::try_from(model.parts.pos[i]?).ok());
    }
    let shifting: HashSet<_> = shift_graphs(model).into_iter().flatten().collect();
    let calls = &model.graph_calls;
    for i in 0..calls.len() {
        let Some(decode) = calls.decode[i] else { continue };
        let context = &mut all[decode.0 as usize];
        if calls.parent[i].is_none_or(|graph| !shifting.contains(&graph)) {
            context.n_past = context.n_past.or(calls.n_past[i]);
        }
        context.n_kv = calls.topology[i].and_then(|s| cells[s.0 as usize]).or(context.n_kv);
    }
    all
}

/// Operators that show the number of cells.
struct Operators {
    flash: Option<Text>,
    soft_max: Option<Text>,
}

impl Operators {
    fn compute(model: &Model) -> Self {
        let find = |name| model.texts.find(name);
        Self { flash: find("FLASH_ATTN_EXT"), soft_max: find("SOFT_MAX") }
    }

    /// Largest number of cells of a graph's attentions, because those with a sliding window have
    /// fewer. It is the number of key rows that flash attention reads, or the columns of a softmax
    /// that has a mask. The softmax of an expert router has no mask.
    fn cells(&self, topology: &Topology) -> Option<u64> {
        let cells = (0..topology.n_nodes).map(|i| topology.node(NodeIdx(i))).filter_map(|node| {
            let source = |slot| node.src.iter().find(|(s, _)| *s == slot).map(|(_, n)| topology.node(*n));
            if self.flash == Some(node.op) {
                source(1).map(|keys| keys.ne[1])
            } else if self.soft_max == Some(node.op) && source(1).is_some() {
                Some(node.ne[0])
            } else {
                None
            }
        });
        cells.max()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;
    use profinfer_trace::model::{Node, Role, Texts};

    fn topology(texts: &mut Texts, nodes: &[(&str, [u64; 4], &[u32])]) -> Topology {
        let mut node = |(op, ne, src): &(&str, [u64; 4], &[u32])| Node {
            name: texts.intern("t"),
            op: texts.intern(op),
            desc: texts.intern(op),
            dtype: texts.intern("f32"),
            role: Role::Node,
            ne: *ne,
            bytes: 0,
            address: 0,
            data: 0,
            buffer: None,
            view_of: None,
            src: (0..).zip(src.iter().copied().map(NodeIdx)).collect(),
        };
        let nodes: Vec<Node> = nodes.iter().map(&mut node).collect();
        Topology { pid: 1, n_nodes: u32::try_from(nodes.len()).unwrap(), nodes, complete: true }
    }

    #[test]
    fn cells_of_the_longest_attention() {
        let mut model = Model::default();
        let leaf = ("NONE", [64, 1, 1, 1], &[][..]);
        let (window, all) = (("NONE", [64, 256, 2, 1], &[][..]), ("NONE", [64, 1024, 2, 1], &[][..]));
        let flash = |keys| ("FLASH_ATTN_EXT", [64, 4, 1, 1], keys);
        let topologies = [
            // Keys of a sliding window, then of the complete cache.
            vec![leaf, window, all, flash(&[0, 1][..]), flash(&[0, 2][..])],
            // The softmax of a router has no mask.
            vec![leaf, ("SOFT_MAX", [4096, 1, 1, 1], &[0][..]), ("SOFT_MAX", [288, 1, 4, 1], &[0, 1][..])],
            vec![leaf],
        ];
        let topologies: Vec<Topology> =
            topologies.iter().map(|nodes| topology(&mut model.texts, nodes)).collect();
        let operators = Operators::compute(&model);
        let cells: Vec<_> = topologies.iter().map(|s| operators.cells(s)).collect();
        assert_eq!(cells, [Some(1024), Some(288), None]);
    }
}
