//! Selections of experts by the routers of a mixture-of-experts model, and their places in a graph.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{GraphCallId, NodeIdx, Topology};
use super::rows::rows;
use super::text::{Text, Texts};

/// Most accepted experts of a layer; the engine's own limit is 512 (`LLAMA_MAX_EXPERTS`).
pub const MAX_EXPERTS: u32 = 1024;

/// In place of an expert: the engine skips this product.
pub const SKIPPED: u32 = u32::MAX;

/// Columns, one row per expert of a token: ordered by graph call, node, token, rank; no position
/// twice. A row's graph call has a topology, in which `node` is the first reader of a [`Selection`]
/// that includes the row's position.
#[derive(Debug, Default, Clone)]
pub struct Experts {
    /// Graph call.
    pub graph_call: Vec<GraphCallId>,
    /// First `MUL_MAT_ID` of the call's topology that uses this selection.
    pub node: Vec<NodeIdx>,
    /// Token, from 0 in the batch.
    pub token: Vec<u32>,
    /// Rank in the router's order, from 0.
    pub rank: Vec<u32>,
    /// Number of the expert in its layer, or [`SKIPPED`].
    pub expert: Vec<u32>,
    /// Missing positions, in calls of which others came.
    pub missing: u64,
}

rows!(Experts, expert);

impl Experts {}

/// The output of one router in a graph: a table of `n_tokens` rows with `n_used` experts each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The `MUL_MAT_ID`s that read it, in the engine's order; never empty.
    pub readers: Vec<NodeIdx>,
    /// Weights of the first reader; of its first expert where every expert has a separate tensor.
    pub weights: NodeIdx,
    /// Experts of the layer, 1 to [`MAX_EXPERTS`].
    pub n_expert: u32,
    /// Experts per token, 1 to `n_expert`.
    pub n_used: u32,
    /// Tokens.
    pub n_tokens: u32,
    /// Bytes of one expert's weights, over all different weights of the readers; `None` when
    /// unknown.
    pub expert_bytes: Option<u64>,
}

impl Selection {
    /// Positions of the table.
    #[must_use]
    pub const fn len(&self) -> u64 {
        // Both are below 2^32: no overflow.
        self.n_used as u64 * self.n_tokens as u64
    }

    /// Never true: an empty selection does not exist.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The selections that a graph uses, in the engine's order. A node with missing or invalid sources
/// reads none.
#[must_use]
pub fn selections(texts: &Texts, topology: &Topology) -> Vec<Selection> {
    let Some((op, index)) = texts.find("MUL_MAT_ID").zip(texts.find("i32")) else { return Vec::new() };
    let mut by_ids: BTreeMap<NodeIdx, usize> = BTreeMap::new();
    let mut found: Vec<Selection> = Vec::new();
    let mut counted: BTreeSet<(NodeIdx, NodeIdx)> = BTreeSet::new();
    for reader in (0..topology.n_nodes).map(NodeIdx).filter(|i| topology.node(*i).op == op) {
        let Some(sources) = Sources::new(topology, reader, index) else { continue };
        let [n_used, n_tokens, ..] = topology.node(sources.ids).ne;
        let n_used = u32::try_from(n_used).ok().filter(|n| (1..=sources.n_expert).contains(n));
        let n_tokens = u32::try_from(n_tokens).ok().filter(|n| *n > 0);
        let Some((n_used, n_tokens)) = n_used.zip(n_tokens) else { continue };
        let at = *by_ids.entry(sources.ids).or_insert_with(|| {
            let (weights, n_expert) = (sources.weights, sources.n_expert);
            found.push(Selection {
                readers: vec![],
                weights,
                n_expert,
                n_used,
                n_tokens,
                expert_bytes: Some(0),
            });
            found.len() - 1
        });
        let selection = &mut found[at];
        selection.readers.push(reader);
        // Early engines have one reader per rank, all with the same weights.
        if counted.insert((sources.ids, sources.weights)) {
            let bytes = sources.expert_bytes.filter(|_| sources.n_expert == selection.n_expert);
            selection.expert_bytes =
                selection.expert_bytes.zip(bytes).and_then(|(sum, b)| sum.checked_add(b));
        }
    }
    found
}

/// The sources of a `MUL_MAT_ID`.
struct Sources {
    ids: NodeIdx,
    weights: NodeIdx,
    n_expert: u32,
    expert_bytes: Option<u64>,
}

impl Sources {
    /// Weights, activations, ids, one expert per index of the weights' third dimension; before
    /// llama.cpp b2591 ids, activations, and then one tensor per expert. Only ids are of the type
    /// `index`.
    fn new(topology: &Topology, reader: NodeIdx, index: Text) -> Option<Self> {
        let src = &topology.node(reader).src;
        let source = |slot| src.iter().find(|(s, _)| *s == slot).map(|(_, n)| *n);
        let is_ids = |n: &NodeIdx| topology.node(*n).dtype == index;
        let believed = |n: u64| u32::try_from(n).ok().filter(|n| (1..=MAX_EXPERTS).contains(n));
        if let Some(ids) = source(2).filter(is_ids) {
            let weights = source(0)?;
            let w = topology.node(weights);
            let n_expert = believed(w.ne[2])?;
            let whole = w.bytes != 0 && w.ne[3] == 1 && w.bytes.is_multiple_of(n_expert.into());
            let expert_bytes = whole.then(|| w.bytes / u64::from(n_expert));
            return Some(Self { ids, weights, n_expert, expert_bytes });
        }
        let ids = source(0).filter(is_ids)?;
        let experts: Vec<NodeIdx> = (2..).map_while(source).collect();
        let weights = *experts.first()?;
        let bytes = topology.node(weights).bytes;
        let same = bytes != 0 && experts.iter().all(|e| topology.node(*e).bytes == bytes);
        Some(Self {
            ids,
            weights,
            n_expert: believed(experts.len() as u64)?,
            expert_bytes: same.then_some(bytes),
        })
    }
}
