//! How much context a token-level call works with: what was there before, and over how many cells of the KV cache its attention goes.
//!
//! Both come from the graphs themselves, so that neither the engine's batches nor its cache need be known: the rotary embedding
//! reads the tokens' positions, and attention has a dimension that is the number of cells.

use crate::model::{Model, NodeIdx, Shape, Text};

/// Of one token-level call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// Position of the first token of the first graph.
    pub(super) n_past: Option<u32>,
    /// Cells of the last graph: the engine looks at more and more of them.
    pub(super) n_kv: Option<u64>,
}

/// By token-level call.
pub(super) fn contexts(model: &Model) -> Vec<Context> {
    let mut all = vec![Context::default(); model.decodes.len()];
    let cells: Vec<Option<u64>> = {
        let of = Operators::of(model);
        model.shapes.iter().map(|(_, shape)| of.cells(shape)).collect()
    };
    let calls = &model.graph_calls;
    for i in 0..calls.len() {
        let Some(decode) = calls.decode[i] else { continue };
        let context = &mut all[decode.0 as usize];
        context.n_past = context.n_past.or(calls.n_past[i]);
        context.n_kv = calls.shape[i].and_then(|s| cells[s.0 as usize]).or(context.n_kv);
    }
    all
}

/// Operators that tell the number of cells.
struct Operators {
    flash: Option<Text>,
    soft_max: Option<Text>,
}

impl Operators {
    fn of(model: &Model) -> Self {
        let find = |name| model.texts.find(name);
        Self { flash: find("FLASH_ATTN_EXT"), soft_max: find("SOFT_MAX") }
    }

    /// Most cells of a graph's attentions (those of a sliding window have fewer): the rows of the keys that flash attention reads; else the
    /// columns of the softmax that has a mask (that of a router of experts has none).
    fn cells(&self, shape: &Shape) -> Option<u64> {
        let cells = (0..shape.n_nodes).map(|i| shape.node(NodeIdx(i))).filter_map(|node| {
            let source = |slot| node.src.iter().find(|(s, _)| *s == slot).map(|(_, n)| shape.node(*n));
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
