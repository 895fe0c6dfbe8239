//! Experts that the routers of a mixture-of-experts model chose, and where in a graph they do so.

use std::collections::BTreeMap;

use super::graph::{GraphCallId, NodeIdx, Shape};
use super::text::Texts;

/// Most experts of a layer that are believed; the engine's own limit is 512 (`LLAMA_MAX_EXPERTS`).
pub const MAX_EXPERTS: u32 = 4096;

/// Columns, one row for each expert of each token: ordered by graph call, node, token, rank; no position twice. A row's graph call
/// has a shape, in which `node` is the first reader of a [`Choice`] that has room for the row.
#[derive(Debug, Default)]
pub struct Experts {
    /// Graph call.
    pub graph_call: Vec<GraphCallId>,
    /// First `MUL_MAT_ID` of the call's shape that works by this choice.
    pub node: Vec<NodeIdx>,
    /// Token, from 0 in the batch.
    pub token: Vec<u32>,
    /// Place in the router's order, from 0.
    pub rank: Vec<u32>,
    /// Number of the expert in its layer.
    pub expert: Vec<u32>,
    /// Positions that never came, of the calls of which others did.
    pub missing: u64,
}

impl Experts {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.expert.len()
    }

    /// No router's choice was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.expert.is_empty()
    }
}

/// What one router decides in a graph: a table of `n_tokens` rows with `n_used` experts each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The `MUL_MAT_ID`s that read it, in the engine's order; never empty.
    pub readers: Vec<NodeIdx>,
    /// Experts of the layer, 1 to [`MAX_EXPERTS`].
    pub n_expert: u32,
    /// Experts for each token, 1 to `n_expert`.
    pub n_used: u32,
    /// Tokens.
    pub n_tokens: u32,
}

impl Choice {
    /// Positions of the table.
    #[must_use]
    pub const fn len(&self) -> u64 {
        // Both are below 2^32: no overflow.
        self.n_used as u64 * self.n_tokens as u64
    }

    /// Never true: a choice of nothing is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The source slots of a `MUL_MAT_ID`: the experts' weights (one expert an index of the third dimension), and the ids
/// (a row a token).
pub const WEIGHTS: u8 = 0;
const IDS: u8 = 2;

/// The choices that a graph works by, in the engine's order. A node whose sources did not all arrive, or make no sense, reads none.
#[must_use]
pub fn choices(texts: &Texts, shape: &Shape) -> Vec<Choice> {
    let Some(op) = texts.find("MUL_MAT_ID") else { return Vec::new() };
    let mut by_ids: BTreeMap<NodeIdx, usize> = BTreeMap::new();
    let mut found: Vec<Choice> = Vec::new();
    for i in (0..shape.n_nodes).map(NodeIdx).filter(|i| shape.node(*i).op == op) {
        let source = |slot| shape.node(i).src.iter().find(|(s, _)| *s == slot).map(|(_, n)| *n);
        let Some((weights, ids)) = source(WEIGHTS).zip(source(IDS)) else { continue };
        let Some((n_expert, n_used, n_tokens)) = sizes(shape, weights, ids) else { continue };
        match by_ids.get(&ids) {
            Some(known) => found[*known].readers.push(i),
            None => {
                by_ids.insert(ids, found.len());
                found.push(Choice { readers: vec![i], n_expert, n_used, n_tokens });
            }
        }
    }
    found
}

fn sizes(shape: &Shape, weights: NodeIdx, ids: NodeIdx) -> Option<(u32, u32, u32)> {
    let n_expert = u32::try_from(shape.node(weights).ne[2]).ok().filter(|n| (1..=MAX_EXPERTS).contains(n))?;
    let [n_used, n_tokens, ..] = shape.node(ids).ne;
    let n_used = u32::try_from(n_used).ok().filter(|n| (1..=n_expert).contains(n))?;
    let n_tokens = u32::try_from(n_tokens).ok().filter(|n| *n > 0)?;
    Some((n_expert, n_used, n_tokens))
}
