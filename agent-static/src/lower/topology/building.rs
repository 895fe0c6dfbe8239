//! Topologies that are being collected. A large one arrives in parts, one per graph call.

use super::collected::Collected;
use super::raw::Read;
use crate::bpf::ring;

/// Most tensors of all collections together, some 80 bytes each: one graph of 16,384 nodes, which
/// is `MAX_NODES` of topology.bpf.c, and as many leafs.
const MAX_PENDING: usize = 2 * 16384;
/// Most collections.
const MAX_BUILDING: usize = 8;
/// Parts of other topologies after which a collection counts as abandoned: its graph was computed
/// once, like that of a prompt.
const ABANDONED: u64 = 4;

/// All collections. Keys of topologies that the kernel side must send again go to `forgotten`.
#[derive(Debug, Default)]
pub(super) struct Buildings {
    all: Vec<Building>,
    /// Parts received so far.
    parts: u64,
}

#[derive(Debug)]
pub(super) struct Building {
    pub(super) pid: u32,
    pub(super) key: u64,
    pub(super) n_nodes: usize,
    /// [`Buildings::parts`] when its last tensor came.
    used: u64,
    pub(super) tensors: Collected,
    /// It alone has more tensors than are collected.
    pub(super) too_large: bool,
}

impl Buildings {
    pub(super) fn begin(&mut self, head: &ring::Head, key: u64, n_nodes: u32, forgotten: &mut Vec<u64>) {
        self.all.retain(|b| b.key != key);
        if self.all.len() >= MAX_BUILDING {
            let oldest = (0..self.all.len()).min_by_key(|i| self.all[*i].used);
            forgotten.extend(oldest.map(|i| self.all.remove(i).key));
        }
        let n_nodes = n_nodes as usize;
        let tensors = Collected::new(n_nodes.min(MAX_PENDING));
        let (pid, used) = (head.tgid, self.parts);
        self.all.push(Building { pid, key, n_nodes, used, tensors, too_large: false });
    }

    /// A graph call has sent its part of a topology.
    pub(super) const fn part_ended(&mut self) {
        self.parts += 1;
    }

    /// Makes room for another tensor of this topology. `None` if it is not collected, or no longer.
    pub(super) fn space(&mut self, key: u64, forgotten: &mut Vec<u64>) -> Option<()> {
        if self.get(key)?.too_large {
            return None;
        }
        while self.all.iter().map(|b| b.tensors.len()).sum::<usize>() >= MAX_PENDING {
            let abandoned = |b: &&Building| b.key != key && b.used + ABANDONED <= self.parts;
            let dropped = match self.all.iter().filter(abandoned).min_by_key(|b| b.used) {
                Some(b) => b.key,
                // The others come first: otherwise two large graphs in turns drop each other forever.
                None if self.all.len() > 1 => key,
                None => {
                    let alone = self.all.first_mut().filter(|b| b.key == key)?;
                    alone.tensors = Collected::default();
                    alone.too_large = true;
                    return None;
                }
            };
            self.all.retain(|b| b.key != dropped);
            forgotten.push(dropped);
        }
        let parts = self.parts;
        self.get(key)?.used = parts;
        Some(())
    }

    pub(super) fn get(&mut self, key: u64) -> Option<&mut Building> {
        self.all.iter_mut().find(|b| b.key == key)
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<Building> {
        let at = self.all.iter().position(|b| b.key == key)?;
        Some(self.all.swap_remove(at))
    }

    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool) {
        self.all.retain(|b| kept(b.pid));
    }
}

impl Building {
    /// Adds a tensor: as the node with this index, or as a leaf if it is the largest number.
    pub(super) fn add(&mut self, read: Read, index: u32) {
        self.tensors.add(read, (index != u32::MAX).then_some(index as usize));
    }
}
