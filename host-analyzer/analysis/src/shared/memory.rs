//! What a model keeps of its context.

use std::collections::BTreeSet;

use profinfer_trace::model::{Model, Role, Topology};

/// What a model keeps of the tokens before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Keys and values of all tokens: it can be cut back to any earlier token.
    Cells,
    /// Some layers keep a window of the last tokens.
    Window,
    /// Some layers keep a state, which cannot be cut back.
    State,
}

/// Operators that change a state.
const STATE: [&str; 6] =
    ["SSM_SCAN", "SSM_CONV", "RWKV_WKV6", "RWKV_WKV7", "GATED_LINEAR_ATTN", "GATED_DELTA_NET"];

/// What the model of a process keeps.
pub(crate) fn memory(model: &Model, pid: u32) -> Memory {
    let own = || model.topologies.iter().map(|(_, t)| t).filter(|t| t.pid == pid);
    let has_state = |t: &Topology| t.nodes.iter().any(|n| STATE.contains(&model.texts.get(n.op)));
    if own().any(has_state) {
        return Memory::State;
    }
    // The cache of such layers has fewer cells than that of the others, however short the context is. With
    // --swa-full both have as many.
    let lengths = |t: &Topology| {
        let leafs = t.nodes[t.n_nodes as usize..].iter();
        let keys = leafs.filter(|n| n.role == Role::Cache && model.texts.get(n.name).starts_with("cache_k"));
        keys.map(|n| n.ne[1]).filter(|cells| *cells > 1).collect::<BTreeSet<_>>()
    };
    if own().any(|t| lengths(t).len() > 1) { Memory::Window } else { Memory::Cells }
}
