//! Topologies of graphs: raw tensors in, wire records out, once per topology.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::graph::{MAX_SRC, Role, Tensor, Tensors, Topology};

use super::{EngineFacts, Lower};
use crate::link::output::Weight;
use crate::placement::{self, Unplaced};
use crate::ring;

/// Tensors of all topologies that are remembered together, 16 bytes each.
const MAX_TENSORS: usize = 1 << 16;
/// Topologies already sent, by their content.
const MAX_SENT: usize = 4096;
/// Largest topology that is put together: `MAX_NODES` of graph.bpf.c and as many leafs.
const MAX_PENDING: usize = 2 * 8192;
/// Topologies being put together at once, one a thread.
const MAX_BUILDING: usize = 8;

/// `GGML_TENSOR_FLAG_INPUT` and `GGML_TENSOR_FLAG_PARAM`, unchanged since they were introduced.
const FLAG_INPUT: u32 = 1;
const FLAG_PARAM: u32 = 4;

/// A topology that spans may refer to.
#[derive(Debug)]
pub struct Known {
    /// Its number on the wire.
    pub wire_id: u32,
    /// Address and index of every tensor, by index for the nodes.
    addresses: Vec<u64>,
    /// The same by address.
    by_address: Vec<(u64, u32)>,
}

impl Known {
    /// Index of the node at `address`. Threads run nodes in order, so it is looked for at `hint` first.
    #[must_use]
    pub fn index(&self, address: u64, hint: u32) -> Option<u32> {
        for (i, a) in (hint..).zip(self.addresses.iter().skip(hint as usize).take(4)) {
            if *a == address {
                return Some(i);
            }
        }
        let at = self.by_address.binary_search_by_key(&address, |(a, _)| *a).ok()?;
        Some(self.by_address[at].1)
    }
}

/// Topologies remembered, and those being put together.
#[derive(Debug, Default)]
pub struct Topologies {
    last_id: u32,
    known: HashMap<u64, (u64, Rc<Known>)>,
    tensors: usize,
    clock: u64,
    sent: HashMap<u64, u32>,
    building: Vec<Building>,
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

/// The fields of one tensor, read out of the engine's struct.
#[derive(Debug, Clone, Copy)]
struct Raw {
    address: u64,
    name: u32,
    op: u32,
    desc: u32,
    dtype: u32,
    ne: [u64; 4],
    bytes: u64,
    flags: u32,
    buffer: u64,
    data: u64,
    view_src: u64,
    src: [u64; MAX_SRC],
    named_weight: bool,
    named_cache: bool,
}

impl Topologies {
    /// The topology of that key.
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
        self.tensors += known.addresses.len();
        self.clock += 1;
        if let Some((_, old)) = self.known.insert(key, (self.clock, Rc::new(known))) {
            self.tensors -= old.addresses.len();
        }
        while self.tensors > MAX_TENSORS && self.known.len() > 1 {
            let Some(oldest) = self.known.iter().min_by_key(|(_, (used, _))| *used).map(|(k, _)| *k) else {
                break;
            };
            if let Some((_, gone)) = self.known.remove(&oldest) {
                self.tensors -= gone.addresses.len();
                forgotten.push(oldest);
            }
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

    fn raw(&mut self, facts: usize, address: u64, bytes: &[u8]) -> Raw {
        let EngineFacts { layout: l, tables, .. } = &self.engines[facts];
        let u32_at = |at: u32| get(bytes, at).map_or(0, u32::from_ne_bytes);
        let u64_at = |at: u32| get(bytes, at).map_or(0, u64::from_ne_bytes);
        let name = bytes.get(l.tensor_name as usize..).unwrap_or_default();
        let name = &name[..name.len().min(64)];
        let name = &name[..name.iter().position(|b| *b == 0).unwrap_or(name.len())];
        let name = String::from_utf8_lossy(name).into_owned();
        let op = u32_at(l.tensor_op);
        let parameter = u32_at(l.tensor_op_params) as usize;
        let op = tables.ops.get(op as usize).cloned().unwrap_or_else(|| format!("op {op}"));
        let function = match op.as_str() {
            "UNARY" => tables.unary.get(parameter),
            "GLU" => tables.glu.get(parameter),
            _ => None,
        };
        let desc = function.cloned().unwrap_or_else(|| op.clone());
        let dtype = u32_at(l.tensor_type);
        let known_type = tables.types.get(dtype as usize);
        let ne = [0, 8, 16, 24].map(|d| u64_at(l.tensor_ne + d));
        let size = known_type.and_then(|t| {
            let elements = ne.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
            elements.checked_div(t.block_elements.into())?.checked_mul(t.block_bytes.into())
        });
        let dtype = match known_type {
            Some(t) if !t.name.is_empty() => t.name.clone(),
            _ => format!("type {dtype}"),
        };
        let mut src = [0; MAX_SRC];
        for (slot, at) in src.iter_mut().zip((l.tensor_src..).step_by(8)) {
            *slot = u64_at(at);
        }
        let (flags, buffer) = (u32_at(l.tensor_flags), u64_at(l.tensor_buffer));
        let (data, view_src) = (u64_at(l.tensor_data), u64_at(l.tensor_view_src));
        let emit = &mut self.emit;
        Raw {
            address,
            name: self.texts.id(emit, &name),
            op: self.texts.id(emit, &op),
            desc: self.texts.id(emit, &desc),
            dtype: self.texts.id(emit, &dtype),
            ne,
            bytes: size.unwrap_or(0),
            flags,
            buffer,
            data,
            view_src,
            src,
            // Names that llama.cpp gives: weights as in the GGUF file, `cache_k_l0`, `cache_s_l0`, ….
            named_weight: name.ends_with(".weight") || name.ends_with(".bias"),
            named_cache: name.starts_with("cache_"),
        }
    }

    pub(super) fn topology_end(&mut self, head: &ring::Head, key: u64) {
        let Some(at) = self.topologies.building.iter().position(|b| b.tid == head.tid && b.key == key) else {
            return;
        };
        let mut b = self.topologies.building.swap_remove(at);
        if head.arg != 0 || b.nodes.len() != b.n_nodes {
            // The kernel side reads it again when it was not whole; make sure that it does when records were lost.
            self.forgotten.push(key);
            return;
        }
        let n_nodes = b.nodes.len();
        // The result of ggml_cast (CPY, in llama.cpp b6845 to b8390) is a source of itself: it was met among its own
        // sources, as a leaf, before it was met as a node.
        let mut nodes: Vec<u64> = b.nodes.iter().map(|r| r.address).collect();
        nodes.sort_unstable();
        b.leafs.retain(|r| nodes.binary_search(&r.address).is_err());
        let addresses: Vec<u64> = b.nodes.iter().chain(&b.leafs).map(|r| r.address).collect();
        let mut by_address: Vec<(u64, u32)> = addresses.iter().copied().zip(0..).collect();
        by_address.sort_unstable();
        let index = |address: u64| {
            let at = by_address.binary_search_by_key(&address, |(a, _)| *a).ok();
            at.map_or(0, |i| by_address[i].1 + 1)
        };
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
                role: role(i < n_nodes, r, &weight_buffers),
                ne: r.ne,
                bytes: r.bytes,
                address: r.address,
                data: r.data,
                view_of: index(r.view_src),
                src: r.src.map(index),
            })
            .collect();
        let buffers: Vec<u64> = b.nodes.iter().chain(&b.leafs).map(|r| r.buffer).collect();
        let wire_id = self.send_topology(b.pid, n_nodes, &tensors, &buffers);
        let known = Known { wire_id, addresses, by_address };
        self.topologies.insert(key, known, &mut self.forgotten);
    }

    /// Sends a topology unless an equal one was sent; addresses do not make it another one.
    fn send_topology(&mut self, pid: u32, n_nodes: usize, tensors: &[Tensor], buffers: &[u64]) -> u32 {
        let mut hasher = DefaultHasher::new();
        (pid, n_nodes, tensors.len()).hash(&mut hasher);
        for t in tensors {
            (t.name, t.op, t.desc, t.dtype, t.role, t.ne, t.view_of, t.src).hash(&mut hasher);
        }
        let content = hasher.finish();
        if let Some(id) = self.topologies.sent.get(&content) {
            return *id;
        }
        if self.topologies.sent.len() >= MAX_SENT {
            self.topologies.sent.clear();
        }
        self.topologies.last_id += 1;
        let id = self.topologies.last_id;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let topology = Topology { id, pid, n_nodes: count(n_nodes), n_leafs: count(tensors.len() - n_nodes) };
        let mut whole = self.emit.emit(&Record::Topology(topology), Weight::Essential);
        let mut bytes = [0u8; MAX_PAYLOAD - 32];
        let mut first = 0;
        while first < tensors.len() {
            let (mut len, mut n) = (0, 0u16);
            for tensor in &tensors[first..] {
                let Ok(part) = postcard::to_slice(tensor, &mut bytes[len..]) else { break };
                len += part.len();
                n += 1;
            }
            if n == 0 {
                break;
            }
            let part = Tensors { topology: id, first: count(first), count: n, bytes: &bytes[..len] };
            whole &= self.emit.emit(&Record::Tensors(part), Weight::Essential);
            first += usize::from(n);
        }
        if whole {
            self.topologies.sent.insert(content, id);
            let weights = weights(tensors, buffers);
            self.unplaced.extend((!weights.is_empty()).then_some(Unplaced { topology: id, pid, weights }));
        }
        id
    }
}

fn weights(tensors: &[Tensor], buffers: &[u64]) -> Vec<placement::Weight> {
    let all = (0..).zip(tensors).zip(buffers).filter(|((_, t), _)| t.role == Role::Weight);
    all.map(|((index, t), buffer)| placement::Weight { index, buffer: *buffer, data: t.data, bytes: t.bytes })
        .collect()
}

fn role(node: bool, r: &Raw, weight_buffers: &[u64]) -> Role {
    match () {
        () if node => Role::Node,
        () if r.named_cache => Role::Cache,
        () if r.named_weight || r.flags & FLAG_PARAM != 0 => Role::Weight,
        () if r.flags & FLAG_INPUT != 0 => Role::Input,
        // A weight without the usual suffix lies in the buffer of those that have it.
        () if weight_buffers.contains(&r.buffer) => Role::Weight,
        () => Role::Other,
    }
}

fn get<const N: usize>(bytes: &[u8], at: u32) -> Option<[u8; N]> {
    let at = at as usize;
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
