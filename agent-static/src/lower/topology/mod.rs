//! Topologies of graphs: collects raw tensors and sends each topology once.

mod filtered;
mod known;
mod raw;
mod send;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use profinfer_wire::predicted::period;
use profinfer_wire::record::graph::Tensor;

use super::Lower;
use crate::bpf::ring;
pub use known::Known;
use raw::Raw;

/// Most tensors of all remembered topologies together, 16 bytes each.
const MAX_TENSORS: usize = 1 << 16;
/// Largest topology that is collected: `MAX_NODES` of graph.bpf.c and as many leafs.
const MAX_PENDING: usize = 2 * 8192;
/// Most topologies being collected at once, one per thread.
const MAX_BUILDING: usize = 8;

/// Remembered topologies, and those being collected.
#[derive(Debug, Default)]
pub struct Topologies {
    last_id: u32,
    known: HashMap<u64, (u64, Rc<Known>)>,
    tensors: usize,
    clock: u64,
    sent: HashMap<u64, Sent>,
    building: Vec<Building>,
}

/// A topology on the wire.
#[derive(Debug, Clone, Copy)]
struct Sent {
    pid: u32,
    wire_id: u32,
}

#[derive(Debug)]
struct Building {
    tid: u32,
    pid: u32,
    key: u64,
    n_nodes: usize,
    nodes: Vec<Raw>,
    leafs: Vec<Raw>,
}

impl Topologies {
    pub(super) fn get(&mut self, key: u64) -> Option<Rc<Known>> {
        self.clock += 1;
        let (used, known) = self.known.get_mut(&key)?;
        *used = self.clock;
        Some(Rc::clone(known))
    }

    pub(super) fn begin(&mut self, head: &ring::Head, key: u64, n_nodes: u32) {
        self.building.retain(|b| b.tid != head.tid);
        if self.building.len() >= MAX_BUILDING {
            self.building.remove(0);
        }
        let n_nodes = n_nodes as usize;
        let (nodes, leafs) = (Vec::with_capacity(n_nodes.min(MAX_PENDING)), Vec::new());
        self.building.push(Building { tid: head.tid, pid: head.tgid, key, n_nodes, nodes, leafs });
    }

    fn insert(&mut self, key: u64, known: Known, forgotten: &mut Vec<u64>) {
        self.tensors += known.len();
        self.clock += 1;
        if let Some((_, old)) = self.known.insert(key, (self.clock, Rc::new(known))) {
            self.tensors -= old.len();
        }
        while self.tensors > MAX_TENSORS && self.known.len() > 1 {
            let Some(oldest) = self.known.iter().min_by_key(|(_, (used, _))| *used).map(|(k, _)| *k) else {
                break;
            };
            self.forget(oldest, forgotten);
        }
    }

    fn forget(&mut self, key: u64, forgotten: &mut Vec<u64>) {
        if let Some((_, gone)) = self.known.remove(&key) {
            self.tensors -= gone.len();
            forgotten.push(key);
        }
    }

    /// Drops the topologies of all other processes. Their ids on the wire are not reused.
    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool, forgotten: &mut Vec<u64>) {
        self.sent.retain(|_, sent| kept(sent.pid));
        self.building.retain(|b| kept(b.pid));
        let others: Vec<u64> =
            self.known.iter().filter(|(_, (_, known))| !kept(known.pid)).map(|(key, _)| *key).collect();
        for key in others {
            self.forget(key, forgotten);
        }
    }
}

impl Lower {
    pub(super) fn tensor(&mut self, t: &ring::Tensor<'_>) {
        let Some(at) =
            self.topologies.building.iter().position(|b| b.tid == t.head.tid && b.key == t.topology)
        else {
            return;
        };
        let Some(facts) = self.engines.iter().position(|f| f.pid == t.head.tgid) else { return };
        if self.topologies.building[at].nodes.len() + self.topologies.building[at].leafs.len() >= MAX_PENDING
        {
            return;
        }
        let raw = self.raw(facts, t.address, t.raw);
        let building = &mut self.topologies.building[at];
        if t.head.arg == u32::MAX {
            building.leafs.push(raw);
        } else if t.head.arg as usize == building.nodes.len() {
            building.nodes.push(raw);
        }
    }

    pub(super) fn topology_end(&mut self, head: &ring::Head, key: u64, forgotten: &mut Vec<u64>) {
        let Some(at) = self.topologies.building.iter().position(|b| b.tid == head.tid && b.key == key) else {
            return;
        };
        let mut b = self.topologies.building.swap_remove(at);
        if head.arg != 0 || b.nodes.len() != b.n_nodes {
            // The kernel side reads an incomplete topology again. This makes sure that it also does
            // after lost records.
            forgotten.push(key);
            return;
        }
        let n_nodes = b.nodes.len();
        // The result of ggml_cast (CPY, in llama.cpp b6845 to b8390) is its own source. So it was
        // seen first among its sources, as a leaf, and then as a node.
        let mut nodes: Vec<u64> = b.nodes.iter().map(|r| r.address).collect();
        nodes.sort_unstable();
        b.leafs.retain(|r| nodes.binary_search(&r.address).is_err());
        let mut known = Known::new(b.pid, b.nodes.iter().chain(&b.leafs).map(|r| r.address).collect());
        // From 1; 0: none.
        let index = |address: u64| known.by_address(address).map_or(0, |i| i + 1);
        let weight_buffers: Vec<u64> =
            b.leafs.iter().filter(|r| r.named_weight && r.buffer != 0).map(|r| r.buffer).collect();
        let tensors: Vec<Tensor> = b
            .nodes
            .iter()
            .chain(&b.leafs)
            .enumerate()
            .map(|(i, r)| Tensor {
                name: r.name,
                op: r.op,
                desc: r.desc,
                dtype: r.dtype,
                role: r.role(i < n_nodes, &weight_buffers),
                ne: r.ne,
                bytes: r.bytes,
                address: r.address,
                data: r.data,
                view_of: index(r.view_src),
                src: r.src.map(index),
            })
            .collect();
        known.period = repeats(&tensors[..n_nodes]);
        let buffers: Vec<u64> = b.nodes.iter().chain(&b.leafs).map(|r| r.buffer).collect();
        known.wire_id = self.send_topology(b.pid, n_nodes, &tensors, &buffers, known.period);
        if self.filters.of_nodes() {
            let left_out = filtered::left_out(&self.filters, &b.nodes, &b.leafs, &known);
            let gone = b.nodes.iter().zip(&left_out).filter(|(_, gone)| **gone);
            self.left_out.extend(gone.map(|(node, _)| (key, node.address)));
            known.leave_out(left_out);
        }
        self.topologies.insert(key, known, forgotten);
    }
}

/// Number of nodes after which a graph repeats, by operator, type and shape.
fn repeats(nodes: &[Tensor]) -> u16 {
    let kind = |t: &Tensor| {
        let mut hasher = DefaultHasher::new();
        (t.op, t.desc, t.dtype, t.ne).hash(&mut hasher);
        hasher.finish()
    };
    period(&nodes.iter().map(kind).collect::<Vec<u64>>())
}
