//! What a model keeps of its context.

use std::collections::BTreeSet;

use profinfer_trace::model::{Model, Topology};

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

/// What the model of a process keeps. A window is seen once a context is longer than it.
pub(crate) fn memory(model: &Model, pid: u32) -> Memory {
    let own = || model.topologies.iter().map(|(_, t)| t).filter(|t| t.pid == pid);
    let has_state = |t: &Topology| t.nodes.iter().any(|n| STATE.contains(&model.texts.get(n.op)));
    if own().any(has_state) {
        return Memory::State;
    }
    let lengths = |t: &Topology| {
        let keys = |n: &&profinfer_trace::model::Node| model.texts.get(n.op) == "FLASH_ATTN_EXT";
        let of_flash = t.nodes.iter().filter(keys).filter_map(|n| {
            let (_, source) = n.src.iter().find(|(slot, _)| *slot == 1)?;
            Some(t.node(*source).ne[1])
        });
        let soft_max = |n: &&profinfer_trace::model::Node| {
            model.texts.get(n.op) == "SOFT_MAX" && n.src.iter().any(|(slot, _)| *slot == 1)
        };
        of_flash.chain(t.nodes.iter().filter(soft_max).map(|n| n.ne[0])).collect::<BTreeSet<_>>()
    };
    if own().any(|t| lengths(t).len() > 1) { Memory::Window } else { Memory::Cells }
}
