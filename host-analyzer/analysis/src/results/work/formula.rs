//! The formula of each operator. docs/work.md is the same table for people, with the sources.
//!
//! | operator | read | written | operations |
//! |---|---|---|---|
//! | `NONE` `VIEW` `RESHAPE` `PERMUTE` `TRANSPOSE` | 0 | 0 | 0 |
//! | `MUL_MAT` | both sources, weights as stored | result | 2 × columns of the weights × elements of the result |
//! | `MUL_MAT_ID` | different experts × bytes of one, activations, ids | result | 2 × columns × elements of the result |
//! | `FLASH_ATTN_EXT` | queries, mask, attended cells of keys and values | result | 2 × heads × (key + value length) for each query and cell |
//! | `GET_ROWS` | the rows that are looked up, ids | result | 0 |
//! | `SET_ROWS` | rows, ids | the rows in the type of the target | 0 |
//! | `CPY` `CONT` `DUP` `CONCAT` `REPEAT` `ARGSORT` `ARGMAX` `TOP_K` `DIAG` `TRI` `PAD` `ROLL` `WIN_PART` `WIN_UNPART` | first source (`CONCAT`: both) | result | 0 |
//! | `FILL` `ARANGE` | 0 | result | 0 |
//! | elementwise, `CUMSUM` | all sources | result | 1 for each element of the result |
//! | `ADD_ID` | first source, ids, a row of the second for each row of the result, at most all of it | result | 1 for each element |
//! | `RMS_NORM` `L2_NORM` `ROPE` | all sources | result | 3 for each element |
//! | `NORM` | all sources | result | 5 for each element |
//! | `GLU` | all sources | result | 2 for each element |
//! | `SOFT_MAX` | all sources | result | 6 for each element, 7 with a mask |
//! | `SSM_CONV` | all sources | result | 2 × width of the kernel for each element |
//! | `SSM_SCAN` | all sources; of the states those of the batch's sequences | result | 5 for each element of a state and token, 7 if each has a decay |
//! | `GATED_DELTA_NET` | all sources | result | 7 for each element of a state and token, 3 for each element of the values |
//! | `RWKV_WKV6` `RWKV_WKV7` `GATED_LINEAR_ATTN` | all sources | result | 7, 9, 5 for each element of a state and token |
//! | `IM2COL` | the image | result | 0 |
//! | `CONV_2D` `CONV_2D_DW` | all sources | result | 2 × elements of a kernel for each element |
//! | `TOP_K_MASK` | the positions, a score and the block of each, at most all of them; as much of the mask as is kept | result | 0 |
//! | `SOLVE_TRI` | the triangle, the right side | result | n + 1 for each element, with n rows |
//! | others, and those whose sources did not arrive | unknown | unknown | unknown |

use super::attention::Attention;
use super::elementwise::elementwise;
use super::expert::{Experts, by_reader};
use super::sources::{elements, part, source};
use super::state;
use super::{Accuracy, Work};
use crate::shared::empty::is_empty_op;
use profinfer_trace::model::{Model, Node, NodeIdx, Topology};

/// How to compute the work of a node for one graph call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Formula {
    /// The same in every call.
    Fixed(Work),
    /// Depends on the position of the batch.
    Attention(Attention),
    /// Depends on the router's selection.
    Experts(Experts),
}

/// The formulas of all tensors of a topology.
pub(super) fn formulas(model: &Model, topology: &Topology) -> Vec<Formula> {
    let routed = by_reader(model, topology);
    let of = |(at, node): (NodeIdx, &Node)| match model.texts.get(node.op) {
        "FLASH_ATTN_EXT" => {
            Attention::compute(model, topology, node).map_or(Formula::Fixed(UNKNOWN), Formula::Attention)
        }
        "MUL_MAT_ID" => routed
            .get(&at)
            .and_then(|selection| Experts::compute(model, topology, at, node, selection))
            .map_or(Formula::Fixed(UNKNOWN), Formula::Experts),
        op => Formula::Fixed(fixed(model, topology, node, op)),
    };
    (0..).map(NodeIdx).zip(&topology.nodes).map(of).collect()
}

fn fixed(model: &Model, topology: &Topology, node: &Node, op: &str) -> Work {
    // A tensor that was lost in transit has no operator.
    if op.is_empty() || is_empty_op(op) {
        return Work::default();
    }
    let known = match op {
        "MUL_MAT" => product(model, topology, node),
        "GET_ROWS" => get_rows(model, topology, node),
        "SET_ROWS" => set_rows(model, topology, node),
        "CPY" | "CONT" | "DUP" | "REPEAT" | "ARGSORT" | "ARGMAX" | "TOP_K" | "DIAG" | "TRI" | "PAD"
        | "ROLL" | "WIN_PART" | "WIN_UNPART" => moved(model, topology, node, 1),
        // Their first source, if any, gives the shape alone.
        "FILL" | "ARANGE" => moved(model, topology, node, 0),
        "ADD_ID" => add_rows(model, topology, node),
        "SOLVE_TRI" => solve(model, topology, node),
        "TOP_K_MASK" => kept_of_mask(model, topology, node),
        "CONCAT" => moved(model, topology, node, 2),
        "IM2COL" => image_columns(model, topology, node),
        "SSM_CONV" | "CONV_2D" | "CONV_2D_DW" => convolution(model, topology, node, op),
        _ if state::changes(op) => state::work(model, topology, node, op),
        _ => per_element(node, op).map(|n| elementwise(model, topology, node, n)),
    };
    known.unwrap_or(UNKNOWN)
}

/// `ggml_compute_forward_mul_mat`: every row of the first source with every row of the second.
fn product(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let (weights, activations) = (source(node, 0)?, source(node, 1)?);
    let (bytes, accuracy) = super::stored::stored(model, topology.node(weights));
    let mut work = Work { written_bytes: node.bytes, accuracy, ..Work::default() };
    work.operations = 2_u64.saturating_mul(topology.node(weights).ne[0]).saturating_mul(elements(node));
    work.read(model, topology, weights, bytes);
    if activations != weights {
        work.read_all(model, topology, activations);
    }
    Some(work)
}

/// Bytes of a table of which each row of the result looks up one: at most all, as a row that is looked
/// up several times is read once.
fn looked_up(table: &Node, result: &Node) -> u64 {
    part(table.bytes, elements(result).min(elements(table)), elements(table))
}

/// `ggml_compute_forward_get_rows`: as many rows as the result has, in the type of the table.
fn get_rows(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let (table, ids) = (source(node, 0)?, source(node, 1)?);
    let from = topology.node(table);
    let mut work = Work { written_bytes: node.bytes, ..Work::default() };
    work.read(model, topology, table, looked_up(from, node));
    work.read_all(model, topology, ids);
    Some(work)
}

/// `ggml_compute_forward_set_rows`: the node is a view of the complete target, of which it writes
/// only the given rows.
fn set_rows(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let (rows, ids) = (source(node, 0)?, source(node, 1)?);
    let written_bytes = part(node.bytes, elements(topology.node(rows)), elements(node));
    let mut work = Work { written_bytes, ..Work::default() };
    work.read_all(model, topology, rows);
    work.read_all(model, topology, ids);
    Some(work)
}

/// Elements that move to another place, order or type. The target of a `CPY` is its second source,
/// which is not read.
fn moved(model: &Model, topology: &Topology, node: &Node, sources: u8) -> Option<Work> {
    let mut work = Work { written_bytes: node.bytes, ..Work::default() };
    for slot in 0..sources {
        work.read_all(model, topology, source(node, slot)?);
    }
    Some(work)
}

/// `ggml_compute_forward_add_id`: to each row, the row of the second source that its id selects.
fn add_rows(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let (rows, table, ids) = (source(node, 0)?, source(node, 1)?, source(node, 2)?);
    let from = topology.node(table);
    let mut work = Work { written_bytes: node.bytes, operations: elements(node), ..Work::default() };
    work.read_all(model, topology, rows);
    work.read(model, topology, table, looked_up(from, node));
    work.read_all(model, topology, ids);
    Some(work)
}

/// `ggml_compute_forward_top_k_mask` (llama.cpp 0.8.0): of each row of the mask, the values at the chosen
/// positions, each of which may be that of a block, and at further ones. All others are minus infinity.
fn kept_of_mask(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let (mask, chosen) = (source(node, 0)?, source(node, 1)?);
    let [score, blocks, further] = [2, 3, 4].map(|slot| source(node, slot));
    let n = |place: NodeIdx| elements(topology.node(place));
    let block = blocks.map_or(1, |blocks| topology.node(blocks).ne[0]);
    let kept = n(chosen).saturating_mul(block).saturating_add(further.map_or(0, n)).min(elements(node));
    let mut work = Work { written_bytes: node.bytes, ..Work::default() };
    work.read_all(model, topology, chosen);
    for (table, of_one) in [(score, 1), (blocks, block)] {
        let Some(table) = table else { continue };
        let read = n(chosen).saturating_mul(of_one).min(n(table));
        work.read(model, topology, table, part(topology.node(table).bytes, read, n(table)));
    }
    if let Some(further) = further {
        work.read_all(model, topology, further);
    }
    let bytes = part(node.bytes, kept, elements(node)).min(topology.node(mask).bytes);
    work.read(model, topology, mask, bytes);
    Some(work)
}

/// `ggml_compute_forward_solve_tri`: row i of the result is the right side less i products, divided once.
/// Of the matrix only the triangle is read.
fn solve(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let (matrix, right) = (source(node, 0)?, source(node, 1)?);
    let of = topology.node(matrix);
    let n = of.ne[0];
    let mut work = Work { written_bytes: node.bytes, ..Work::default() };
    work.operations = n.saturating_add(1).saturating_mul(elements(node));
    work.read(model, topology, matrix, part(of.bytes, n.saturating_add(1), n.saturating_mul(2)));
    work.read_all(model, topology, right);
    Some(work)
}

/// `ggml_compute_forward_im2col`: the kernel, its first source, is not read.
fn image_columns(model: &Model, topology: &Topology, node: &Node) -> Option<Work> {
    let mut work = Work { written_bytes: node.bytes, ..Work::default() };
    work.read_all(model, topology, source(node, 1)?);
    Some(work)
}

/// Each element of the result is a dot product of a kernel with as many elements of the other source.
fn convolution(model: &Model, topology: &Topology, node: &Node, op: &str) -> Option<Work> {
    // The kernel of a state has one dimension, and follows its input.
    let (slot, dimensions) = match op {
        "SSM_CONV" => (1, 1),
        "CONV_2D" => (0, 3),
        _ => (0, 2),
    };
    let kernel = topology.node(source(node, slot)?);
    let size = kernel.ne[..dimensions].iter().fold(1_u64, |size, n| size.saturating_mul(*n));
    Some(elementwise(model, topology, node, size.saturating_mul(2)))
}

/// Operations per element of the result. A function such as `exp` or `tanh` counts as one, a
/// comparison as none.
fn per_element(node: &Node, op: &str) -> Option<u64> {
    Some(match op {
        "ADD" | "ADD1" | "SUB" | "MUL" | "DIV" | "SCALE" | "SQR" | "SQRT" | "LOG" | "SIN" | "COS"
        | "CLAMP" | "UNARY" | "LEAKY_RELU" | "DIAG_MASK_INF" | "DIAG_MASK_ZERO" | "SUM_ROWS" | "MEAN"
        | "CUMSUM" => 1,
        "GLU" => 2,
        // The sum of squares, and the product. For a rotation, four products and two sums per pair.
        "RMS_NORM" | "L2_NORM" | "ROPE" => 3,
        // The mean before it, and its subtraction.
        "NORM" | "GROUP_NORM" => 5,
        // Scale, maximum, subtraction, exp, sum, product; and the mask.
        "SOFT_MAX" => 6 + u64::from(source(node, 1).is_some()),
        _ => return None,
    })
}

/// Of an operator without a formula, and of one whose sources did not arrive.
const UNKNOWN: Work = Work {
    weight_bytes: 0,
    cache_bytes: 0,
    activation_bytes: 0,
    written_bytes: 0,
    operations: 0,
    accuracy: Accuracy::AtLeast,
};
