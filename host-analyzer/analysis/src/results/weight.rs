//! Memory of the weights of each context: mapped from the model's file, in memory of the process,
//! or on a device.
//!
//! Stage: analysis. From: the topologies that each context computed. To: one [`Weights`] per
//! context. Promises: a weight that several topologies read counts once; `bytes` is the sum over
//! the buffers.

use std::collections::{BTreeMap, BTreeSet};

use crate::shared::group::context_name;
use profinfer_trace::model::{BufferId, Memory, Model, Node, Role, Text, TopologyId};

/// Weights that the graphs of one context read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    pub pid: u32,
    /// Address of the context in hex; `None` for graphs outside of `llama_decode` calls.
    pub context: Option<String>,
    /// Number of weights.
    pub tensors: u64,
    pub bytes: u64,
    /// Bytes in mappings of files. This and the next three are `None` when the recording has no
    /// placements.
    pub mapped_bytes: Option<u64>,
    /// Bytes in anonymous memory of the process.
    pub own_bytes: Option<u64>,
    /// Bytes on devices.
    pub device_bytes: Option<u64>,
    /// Bytes whose placement is unknown.
    pub unknown_bytes: Option<u64>,
    /// The same by buffer type and file, largest first; empty when the recording has no placements.
    pub buffers: Vec<Buffer>,
}

/// Weights of one context in buffers of one type in one kind of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Buffer type, as the engine names it; `None` when unknown.
    pub buffer: Option<String>,
    /// `file`, `anonymous`, `device` or `unknown`.
    pub memory: Memory,
    /// The mapped file; `None` for other memory.
    pub path: Option<String>,
    /// Number of weights.
    pub tensors: u64,
    pub bytes: u64,
}

/// Identity of a weight within a context: its address, which on devices restarts in each buffer, or
/// its name where there is no address. A name alone may repeat: a matrix can be used both unchanged
/// and repacked.
type Identity = (u64, Option<BufferId>, Option<Text>);

/// The weights of every context whose graphs read weights.
#[must_use]
pub fn weights(model: &Model) -> Vec<Weights> {
    let mut contexts: BTreeMap<(u32, u64), BTreeSet<TopologyId>> = BTreeMap::new();
    let calls = &model.graph_calls;
    for (topology, decode) in calls.topology.iter().zip(&calls.decode) {
        let Some(topology) = *topology else { continue };
        let context = decode.map_or(0, |d| model.llama_calls.context[d.0 as usize]);
        contexts.entry((model.topologies.get(topology).pid, context)).or_default().insert(topology);
    }
    // A graph whose call is missing, in a recording that was cut, is one of the context that computes
    // the same graph in calls.
    let in_calls: BTreeSet<TopologyId> =
        contexts.iter().filter(|((_, context), _)| *context != 0).flat_map(|(_, of)| of).copied().collect();
    for (_, topologies) in contexts.iter_mut().filter(|((_, context), _)| *context == 0) {
        topologies.retain(|topology| !in_calls.contains(topology));
    }
    let of = |((pid, context), topologies): (_, BTreeSet<TopologyId>)| {
        of_context(model, pid, context, &topologies)
    };
    contexts.into_iter().map(of).filter(|w| w.tensors > 0).collect()
}

fn of_context(model: &Model, pid: u32, context: u64, topologies: &BTreeSet<TopologyId>) -> Weights {
    let nodes = topologies.iter().flat_map(|t| &model.topologies.get(*t).nodes);
    let identity = |n: &Node| -> Identity { (n.data, n.buffer, (n.data == 0).then_some(n.name)) };
    let weights: BTreeMap<Identity, &Node> =
        nodes.filter(|n| n.role == Role::Weight).map(|n| (identity(n), n)).collect();
    let sum = |memory: Option<Memory>| {
        let of_it = weights.values().filter(|n| memory.is_none_or(|m| memory_of(model, n) == m));
        of_it.fold(0_u64, |sum, n| sum.saturating_add(n.bytes))
    };
    let recorded = model.buffers.iter().any(|b| b.pid == pid);
    let of_memory = |memory| recorded.then(|| sum(Some(memory)));
    Weights {
        pid,
        context: context_name(context),
        tensors: weights.len() as u64,
        bytes: sum(None),
        mapped_bytes: of_memory(Memory::File),
        own_bytes: of_memory(Memory::Anonymous),
        device_bytes: of_memory(Memory::Device),
        unknown_bytes: of_memory(Memory::Unknown),
        buffers: if recorded { buffers(model, weights.values().copied()) } else { Vec::new() },
    }
}

/// Kind of memory that holds a weight; unknown if its placement was lost in transit.
fn memory_of(model: &Model, node: &Node) -> Memory {
    node.buffer.and_then(|b| model.buffers.get(b.0 as usize)).map_or(Memory::Unknown, |b| b.memory)
}

fn buffers<'a>(model: &'a Model, weights: impl Iterator<Item = &'a Node>) -> Vec<Buffer> {
    let mut sums: BTreeMap<(&str, Memory, &str), (u64, u64)> = BTreeMap::new();
    for weight in weights {
        let buffer = weight.buffer.and_then(|b| model.buffers.get(b.0 as usize));
        let key = buffer.map_or(("", Memory::Unknown, ""), |b| (b.kind.as_str(), b.memory, b.path.as_str()));
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(weight.bytes));
    }
    let text = |t: &str| (!t.is_empty()).then(|| t.to_owned());
    let mut buffers: Vec<Buffer> = sums
        .into_iter()
        .map(|((kind, memory, path), (tensors, bytes))| Buffer {
            buffer: text(kind),
            memory,
            path: text(path),
            tensors,
            bytes,
        })
        .collect();
    buffers.sort_by_key(|b| std::cmp::Reverse(b.bytes));
    buffers
}
