//! Topologies of graphs: collects raw tensors and sends each topology once.

mod building;
mod collected;
mod filtered;
mod known;
mod raw;
mod send;

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use profinfer_wire::predicted::period;

use super::Lower;
use crate::bpf::ring;
use building::{Building, Buildings};
pub use known::Known;
use known::Table;

/// Most tensors of all remembered topologies together, 12 bytes each. Topologies with equal
/// addresses share them.
const MAX_TENSORS: usize = 1 << 17;
/// Most remembered topologies: as many as the kernel side remembers.
const MAX_KNOWN: usize = 1024;
/// Most topologies that are remembered as too large.
const MAX_TOO_LARGE: usize = 64;

/// Remembered topologies, and those being collected.
#[derive(Debug, Default)]
pub struct Topologies {
    last_id: u32,
    known: HashMap<u64, (u64, Rc<Known>)>,
    tensors: usize,
    clock: u64,
    sent: HashMap<u64, Sent>,
    building: Buildings,
    /// Topologies with too many tensors. The kernel side does not send them again.
    too_large: VecDeque<u64>,
}

/// A topology on the wire.
#[derive(Debug, Clone, Copy)]
struct Sent {
    pid: u32,
    wire_id: u32,
}

impl Topologies {
    pub(super) fn get(&mut self, key: u64) -> Option<Rc<Known>> {
        self.clock += 1;
        let (used, known) = self.known.get_mut(&key)?;
        *used = self.clock;
        Some(Rc::clone(known))
    }

    /// Whether the topology has more tensors than are collected.
    pub(super) fn is_too_large(&self, key: u64) -> bool {
        self.too_large.contains(&key)
    }

    pub(super) fn begin(&mut self, head: &ring::Head, key: u64, n_nodes: u32, forgotten: &mut Vec<u64>) {
        self.building.begin(head, key, n_nodes, forgotten);
    }

    /// A graph call has sent its part of a topology.
    pub(super) const fn part_ended(&mut self) {
        self.building.part_ended();
    }

    /// The remembered table with the same addresses, or this one.
    fn shared(&self, table: Table) -> Rc<Table> {
        let same = self.known.values().find(|(_, known)| *known.table == table);
        same.map_or_else(|| Rc::new(table), |(_, known)| Rc::clone(&known.table))
    }

    /// Tensors for which a topology needs its own memory.
    fn size(&self, key: u64, known: &Known) -> usize {
        let shares =
            |(other, (_, k)): (&u64, &(u64, Rc<Known>))| *other != key && Rc::ptr_eq(&k.table, &known.table);
        let table = if self.known.iter().any(shares) { 0 } else { known.table.len() };
        table + known.left_out.len()
    }

    fn insert(&mut self, key: u64, known: Known, forgotten: &mut Vec<u64>) {
        self.forget(key);
        self.clock += 1;
        self.tensors += self.size(key, &known);
        self.known.insert(key, (self.clock, Rc::new(known)));
        while (self.tensors > MAX_TENSORS || self.known.len() > MAX_KNOWN) && self.known.len() > 1 {
            let Some(oldest) = self.known.iter().min_by_key(|(_, (used, _))| *used).map(|(k, _)| *k) else {
                break;
            };
            forgotten.extend(self.forget(oldest));
        }
    }

    fn forget(&mut self, key: u64) -> Option<u64> {
        let (_, gone) = self.known.remove(&key)?;
        self.tensors -= self.size(key, &gone);
        Some(key)
    }

    /// Drops the topologies of all other processes. Their ids on the wire are not reused.
    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool, forgotten: &mut Vec<u64>) {
        self.sent.retain(|_, sent| kept(sent.pid));
        self.building.keep(&kept);
        let others: Vec<u64> =
            self.known.iter().filter(|(_, (_, known))| !kept(known.pid)).map(|(key, _)| *key).collect();
        forgotten.extend(others.into_iter().filter_map(|key| self.forget(key)));
    }
}

impl Lower {
    pub(super) fn tensor(&mut self, t: &ring::Tensor<'_>, forgotten: &mut Vec<u64>) {
        let Some(facts) = self.engines.iter().position(|f| f.pid == t.head.tgid) else { return };
        if self.topologies.building.space(t.topology, forgotten).is_none() {
            return;
        }
        let read = self.raw(facts, t.address, t.raw);
        if let Some(building) = self.topologies.building.get(t.topology) {
            building.add(read, t.head.arg);
        }
    }

    pub(super) fn topology_end(&mut self, head: &ring::Head, key: u64, forgotten: &mut Vec<u64>) {
        let building = self.topologies.building.remove(key);
        if building.as_ref().is_some_and(|b| b.too_large) {
            self.topologies.too_large.truncate(MAX_TOO_LARGE - 1);
            self.topologies.too_large.push_front(key);
            return;
        }
        let complete = |b: &Building| head.arg == 0 && b.tensors.nodes.len() == b.n_nodes;
        let Some(mut b) = building.filter(complete) else {
            // The kernel side reads an incomplete topology again. This makes sure that it also does
            // after lost records.
            forgotten.push(key);
            return;
        };
        let table = b.tensors.complete();
        let period = period(&b.tensors.nodes.iter().map(|r| r.kind.into()).collect::<Vec<u64>>());
        let wire_id = self.send_topology(b.pid, &b.tensors, &table, period);
        let left_out = if self.filters.of_nodes() {
            filtered::left_out(&self.filters, &b.tensors, &table)
        } else {
            Vec::new()
        };
        let gone = b.tensors.nodes.iter().zip(&left_out).filter(|(_, gone)| **gone);
        self.left_out.extend(gone.map(|(node, _)| (key, node.address)));
        let table = self.topologies.shared(table);
        self.topologies.insert(key, Known { pid: b.pid, wire_id, period, table, left_out }, forgotten);
    }
}
