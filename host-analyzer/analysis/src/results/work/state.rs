//! Operators that change the state of recurrent layers: each token updates every element of the state and
//! multiplies it with a vector of the token.
//!
//! The counts are those of the loops in `ggml-cpu/ops.cpp`.

use super::Work;
use super::elementwise::elementwise;
use super::sources::{elements, part, source};
use profinfer_trace::model::{Model, Node, Topology};

pub(super) fn changes(op: &str) -> bool {
    matches!(op, "SSM_SCAN" | "GATED_DELTA_NET" | "RWKV_WKV6" | "RWKV_WKV7" | "GATED_LINEAR_ATTN")
}

pub(super) fn work(model: &Model, topology: &Topology, node: &Node, op: &str) -> Option<Work> {
    let of = |slot| source(node, slot).map(|at| topology.node(at));
    let mut work = elementwise(model, topology, node, 0);
    // Elements of a token's input, and elements of the state for each of them.
    let (input, length, per_element) = match op {
        // The decay is of a head, or (Mamba 1) of each element: then its product with the step, and exp.
        "SSM_SCAN" => (of(1)?, of(0)?.ne[0], if of(3)?.ne[0] == 1 { 5 } else { 7 }),
        // The decay, two dot products, and the update.
        "GATED_DELTA_NET" => (of(2)?, of(2)?.ne[0], 7),
        "RWKV_WKV6" => (of(1)?, of(1)?.ne[0], 7),
        "RWKV_WKV7" => (of(3)?, of(3)?.ne[0], 9),
        _ => (of(1)?, of(1)?.ne[0], 5),
    };
    let each = length.saturating_mul(per_element) + if op == "GATED_DELTA_NET" { 3 } else { 0 };
    work.operations = elements(input).saturating_mul(each);
    if let ("SSM_SCAN", Some(ids), Some(states)) = (op, of(6), source(node, 0)) {
        // Of the states of all sequences, those of the batch.
        let all = topology.node(states);
        let used = part(all.bytes, elements(ids), all.ne[3]);
        work.unread(model, topology, states, all.bytes.saturating_sub(used));
    }
    Some(work)
}
