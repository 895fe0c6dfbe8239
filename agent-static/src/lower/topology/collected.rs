//! The tensors of a topology, while they arrive.

use std::collections::{HashMap, HashSet};

use profinfer_wire::record::graph::{MAX_SRC, Tensor};

use super::known::Table;
use super::raw::{Kind, Raw, Read};

/// Tensors in the order of arrival. Some thousands of them wait for the rest of a large graph, so each
/// kind is stored once, and sources without empty slots.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) nodes: Vec<Raw>,
    pub(super) leafs: Vec<Raw>,
    /// Addresses of `leafs`.
    seen: HashSet<u64>,
    kinds: Vec<Kind>,
    kind_ids: HashMap<Kind, u32>,
    /// Sources of all tensors.
    sources: Vec<u64>,
    buffers: Vec<u64>,
}

impl Collected {
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { nodes: Vec::with_capacity(n_nodes), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len() + self.leafs.len()
    }

    /// Adds a tensor: as the node with this index, or as a leaf. A node that does not follow the
    /// previous one is left out, because a record was lost.
    pub(super) fn add(&mut self, Read { mut raw, kind, src }: Read, node: Option<usize>) {
        // The kernel side sends a leaf again if it no longer remembers it.
        let wanted = node.map_or_else(|| self.seen.insert(raw.address), |i| i == self.nodes.len());
        if !wanted {
            return;
        }
        let next = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        raw.kind = *self.kind_ids.entry(kind).or_insert(next);
        if raw.kind == next {
            self.kinds.push(kind);
        }
        raw.first_source = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        for (slot, address) in src.into_iter().enumerate().filter(|(_, address)| *address != 0) {
            raw.slots |= 1 << slot;
            self.sources.push(address);
        }
        if node.is_some() { self.nodes.push(raw) } else { self.leafs.push(raw) }
    }

    /// Sources of a tensor, by slot; 0 for an empty slot.
    pub(super) fn src(&self, raw: &Raw) -> [u64; MAX_SRC] {
        let mut sources = self.sources.get(raw.first_source as usize..).unwrap_or_default().iter();
        std::array::from_fn(
            |slot| {
                if raw.slots >> slot & 1 == 0 { 0 } else { sources.next().copied().unwrap_or(0) }
            },
        )
    }

    /// All tensors have arrived. Drops leafs that are also nodes, and returns the addresses.
    ///
    /// The result of `ggml_cast` (CPY, in llama.cpp b6845 to b8390) is its own source. So it was
    /// seen first among its sources, as a leaf, and then as a node. A node that the kernel side no
    /// longer remembers comes as a leaf, too.
    pub(super) fn complete(&mut self) -> Table {
        let mut nodes: Vec<u64> = self.nodes.iter().map(|r| r.address).collect();
        nodes.sort_unstable();
        self.leafs.retain(|r| nodes.binary_search(&r.address).is_err());
        let weights = self.leafs.iter().filter(|r| r.named_weight && r.buffer != 0);
        self.buffers = weights.map(|r| r.buffer).collect();
        self.buffers.sort_unstable();
        self.buffers.dedup();
        Table::new(self.iter().map(|r| r.address).collect())
    }

    /// All tensors, nodes first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Raw> {
        self.nodes.iter().chain(&self.leafs)
    }

    /// All tensors as on the wire.
    pub(super) fn tensors(&self, table: &Table) -> impl Iterator<Item = Tensor> {
        // From 1; 0: none.
        let index = |address: u64| table.by_address(address).map_or(0, |i| i + 1);
        self.iter().enumerate().filter_map(move |(i, r)| {
            let kind = self.kinds.get(r.kind as usize)?;
            Some(Tensor {
                name: r.name,
                op: kind.op,
                desc: kind.desc,
                dtype: kind.dtype,
                role: r.role(i < self.nodes.len(), &self.buffers),
                ne: kind.ne,
                bytes: kind.bytes,
                address: r.address,
                data: r.data,
                view_of: index(r.view_src),
                src: self.src(r).map(index),
            })
        })
    }
}
