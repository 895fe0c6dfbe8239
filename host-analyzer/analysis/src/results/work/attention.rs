//! Flash attention: the cells of the KV cache that are really attended.
//!
//! The key and value views of `FLASH_ATTN_EXT` cover the padded number of cells. The CPU kernel
//! checks the mask first and skips a cell of −∞ before it reads its key or value
//! (`ggml_compute_forward_flash_attn_ext_f16_one_chunk` in `ggml-cpu/ops.cpp`). For many queries,
//! `…_tiled` skips tiles of cells in which all queries have −∞, so it reads up to one tile more.
//! The attended cells are therefore those of the tokens up to the query's own.
//!
//! Without a cache (encoders, attention to an encoder's result) the engine pads keys and values, and the
//! kernel skips what was padded. With latent attention (MLA) the values are a part of the keys.
//!
//! Without flash attention, two `MUL_MAT`s read their complete padded views.

use std::collections::BTreeSet;

use super::sources::{elements, part, root, source};
use super::{Accuracy, Work};
use crate::shared::context::contexts;
use crate::shared::empty::is_empty_op;
use crate::shared::outer::OuterGraphs;
use profinfer_trace::model::{GraphCallId, Model, Node, NodeIdx, Role, Topology};

/// Work of one `FLASH_ATTN_EXT`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attention {
    /// Everything except keys, values and operations.
    others: Work,
    /// Bytes of the key and of the value of one cell, over all heads.
    cell_bytes: u64,
    /// Operations of one query with one cell, over all heads.
    cell_operations: u64,
    /// Cells of the views, without those that only fill them up.
    cells: u64,
    queries: u64,
    /// Each query attends to the cells up to its own token's; if false, to all.
    causal: bool,
    /// Its layer may have a sliding window, which is unknown.
    window: bool,
    /// Keys and values are in the KV cache.
    cached: bool,
}

impl Attention {
    /// For a node with its keys, values and mask.
    pub(super) fn compute(model: &Model, topology: &Topology, node: &Node) -> Option<Self> {
        let [q, k, v] = [source(node, 0)?, source(node, 1)?, source(node, 2)?];
        let mask = source(node, 3);
        let [queries, keys, values] = [q, k, v].map(|n| topology.node(n));
        let padded = keys.ne[1].max(1);
        let mut others = Work { written_bytes: node.bytes, ..Work::default() };
        others.read_all(model, topology, q);
        for more in node.src.iter().filter(|(slot, _)| *slot > 3) {
            others.read_all(model, topology, more.1);
        }
        if let Some(mask) = mask {
            // Older engines pad the mask to more rows than there are queries.
            let rows = topology.node(mask).ne[1].max(1);
            let bytes = super::sources::part(topology.node(mask).bytes, queries.ne[1].min(rows), rows);
            others.read(model, topology, mask, bytes);
        }
        if keys.bytes == 0 || values.bytes == 0 {
            others.accuracy = Accuracy::Estimated;
        }
        let roots = [k, v].map(|n| root(model, topology, n));
        let cached = topology.node(roots[0]).role == Role::Cache;
        let [of_key, of_value] = [keys, values].map(|n| n.bytes / padded);
        let cells = if cached { padded } else { filled(model, topology, k, padded) };
        Some(Self {
            others,
            cell_bytes: if roots[0] == roots[1] { of_key.max(of_value) } else { of_key + of_value },
            // Two products: query with key, and weight with value.
            cell_operations: 2_u64
                .saturating_mul(queries.ne[2].saturating_mul(queries.ne[3]))
                .saturating_mul(keys.ne[0].saturating_add(values.ne[0])),
            cells,
            queries: queries.ne[1],
            causal: cached && mask.is_some(),
            window: cached && windowed(model, topology, k, mask),
            cached,
        })
    }

    /// The work of a call at a position.
    pub(super) fn work(&self, position: Position) -> Work {
        let whole = (self.cells, self.cells.saturating_mul(self.queries), Accuracy::Counted);
        let (read, attended, accuracy) = match position.n_past {
            _ if !self.causal => whole,
            None => (whole.0, whole.1, Accuracy::AtMost),
            Some(n_past) => {
                let (read, attended) = self.attended(n_past.into());
                let bound = if self.window { Accuracy::AtMost } else { Accuracy::Counted };
                (read, attended, bound.max(position.accuracy))
            }
        };
        let mut work = self.others;
        let bytes = self.cell_bytes.saturating_mul(read);
        let (cache_bytes, activation_bytes) = if self.cached { (bytes, 0) } else { (0, bytes) };
        work.add(&Work {
            cache_bytes,
            activation_bytes,
            operations: self.cell_operations.saturating_mul(attended),
            accuracy,
            ..Work::default()
        });
        work
    }

    /// Cells that any query attends to, and the sum over the queries.
    fn attended(&self, n_past: u64) -> (u64, u64) {
        // The i-th query, from 0, attends to n_past + i + 1 cells, but never to more than exist.
        let growing = self.cells.saturating_sub(n_past).min(self.queries);
        let sum =
            u128::from(growing) * u128::from(n_past) + u128::from(growing) * u128::from(growing + 1) / 2;
        let full = u128::from(self.queries - growing) * u128::from(self.cells);
        let sum = u64::try_from(sum + full).unwrap_or(u64::MAX);
        (n_past.saturating_add(self.queries).min(self.cells), sum)
    }
}

/// Of `padded` cells those that a `PAD` before the keys did not add; all without one.
fn filled(model: &Model, topology: &Topology, mut keys: NodeIdx, padded: u64) -> u64 {
    // Between it and the attention are views and copies into another type or order.
    for _ in 0..topology.nodes.len() {
        let node = topology.node(keys);
        let Some(from) = node.view_of.or_else(|| source(node, 0)) else { break };
        match model.texts.get(node.op) {
            "PAD" => return part(padded, elements(topology.node(from)), elements(node)),
            op if is_empty_op(op) || matches!(op, "CPY" | "CONT" | "DUP") => keys = from,
            _ => break,
        }
    }
    padded
}

/// A layer may have a sliding window if the graph has more than one mask, and its cache is not
/// larger than those of other layers. Engines give layers with a window a smaller cache, unless the
/// context is small.
fn windowed(model: &Model, topology: &Topology, keys: NodeIdx, mask: Option<NodeIdx>) -> bool {
    let Some((op, mask)) = model.texts.find("FLASH_ATTN_EXT").zip(mask) else { return false };
    let nodes = topology.nodes.iter().filter(|n| n.op == op);
    let seen =
        |n: &Node| Some((root(model, topology, source(n, 3)?), cache_cells(model, topology, source(n, 1)?)));
    let all: BTreeSet<(NodeIdx, u64)> = nodes.filter_map(seen).collect();
    let ours = (root(model, topology, mask), cache_cells(model, topology, keys));
    all.iter().any(|(other, cells)| *other != ours.0 && *cells >= ours.1)
}

fn cache_cells(model: &Model, topology: &Topology, keys: NodeIdx) -> u64 {
    topology.node(root(model, topology, keys)).ne[1]
}

/// Position of a graph call's batch in its context.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    /// Position of the first token; `None` where unknown.
    n_past: Option<u32>,
    /// How well it tells the cells before that token.
    accuracy: Accuracy,
}

/// Position of each graph call's batch in its context.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions(Vec<Position>);

impl Positions {
    pub(super) fn compute(model: &Model) -> Self {
        let calls = &model.graph_calls;
        let mut of_parent = vec![None; calls.len()];
        for (parent, n_past) in calls.parent.iter().zip(&calls.n_past) {
            if let (Some(parent), Some(n_past)) = (parent, n_past) {
                of_parent[parent.0 as usize].get_or_insert(*n_past);
            }
        }
        // A split without a rotary embedding has the position of the other splits of its graph.
        let of_graph = calls.parent.iter().map(|parent| of_parent[(*parent)?.0 as usize]);
        let of_batch = first_graphs(model);
        let own = calls.n_past.iter().zip(of_graph).zip(of_batch).zip(accuracies(model));
        let of = |(((own, graph), batch), accuracy): (((&Option<u32>, _), _), _)| Position {
            n_past: own.or(graph).or(batch),
            accuracy,
        };
        Self(own.map(of).collect())
    }

    pub(super) fn of_call(&self, call: GraphCallId) -> Position {
        self.0.get(call.0 as usize).copied().unwrap_or_default()
    }
}

/// By graph call: how well the position of its batch tells the cells before it. A batch with several sequences
/// counts as one of the first. Each patch of an image has a cell, but an image has only as many positions as its
/// longer side has patches, so a position after one is less than the number of cells (M-RoPE).
fn accuracies(model: &Model) -> impl Iterator<Item = Accuracy> + '_ {
    let of_axes: Vec<bool> = model.topologies.iter().map(|(_, t)| has_several_axes(model, t)).collect();
    let images = images(model);
    let several = |call: usize| {
        let sequences: BTreeSet<_> = model.parts.of_row(call).map(|part| model.parts.seq[part]).collect();
        sequences.len() > 1
    };
    let calls = &model.graph_calls;
    (0..calls.len()).map(move |i| {
        let axes = calls.topology[i].is_some_and(|t| of_axes[t.0 as usize]);
        match calls.decode[i] {
            _ if axes && images.contains(&model.threads.get(calls.thread[i]).pid) => Accuracy::AtLeast,
            Some(call) if several(call.0 as usize) => Accuracy::Estimated,
            _ => Accuracy::Counted,
        }
    })
}

/// Whether the rotary embedding has several positions per token: those of time, height and width.
fn has_several_axes(model: &Model, topology: &Topology) -> bool {
    let axes = |node: &Node| {
        let [rotated, positions] = [source(node, 0)?, source(node, 1)?].map(|n| topology.node(n));
        Some(positions.ne[0] > rotated.ne[2])
    };
    let ropes = topology.nodes.iter().filter(|n| model.texts.get(n.op) == "ROPE");
    ropes.filter_map(axes).any(|several| several)
}

/// Processes that read images or sound: an encoder ran, or a batch has one position for all of its tokens.
fn images(model: &Model) -> BTreeSet<u32> {
    let (parts, threads) = (&model.parts, &model.threads);
    let batches = (0..parts.len()).filter(|part| parts.same[*part] && parts.n[*part] > 1);
    let of_call = |part: usize| model.llama_calls.thread[parts.decode[part].0 as usize];
    let encoders = OuterGraphs::compute(model);
    batches.map(|part| threads.get(of_call(part)).pid).chain(encoders.processes()).collect()
}

/// By graph call: the position of the batch, where the graph is the only one of its call. A model without a
/// rotary embedding has no other.
fn first_graphs(model: &Model) -> Vec<Option<u32>> {
    let calls = &model.graph_calls;
    let whole = |i: usize| calls.parent[i].is_none();
    let mut graphs = vec![0_u32; model.llama_calls.len()];
    let call_of = |i: usize| Some(calls.decode[i]?.0 as usize);
    for call in (0..calls.len()).filter(|i| whole(*i)).filter_map(call_of) {
        graphs[call] += 1;
    }
    let contexts = contexts(model);
    let of = |i: usize| call_of(i).filter(|call| graphs[*call] == 1).and_then(|call| contexts[call].n_past);
    (0..calls.len()).map(of).collect()
}
