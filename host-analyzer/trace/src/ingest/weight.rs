//! Placement of weights: buffers, and the placements that name them.

use std::collections::HashMap;

use profinfer_wire::record::weight as wire;

use super::damage::Damages;
use crate::model::{Buffer, BufferId, DamageKind, Model, TopologyId};

/// Buffers and placements in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Weights {
    buffers: HashMap<u32, BufferId>,
    rows: Vec<Buffer>,
    placements: Vec<Placement>,
}

#[derive(Debug, Clone, Copy)]
struct Placement {
    topology: u32,
    index: u32,
    buffer: u32,
    offset: u64,
}

impl Weights {
    pub(super) fn buffer(&mut self, r: &wire::Buffer<'_>) {
        let buffer =
            Buffer { pid: r.pid, kind: r.kind.to_owned(), memory: r.memory.into(), path: r.path.to_owned() };
        let next = BufferId(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        let id = *self.buffers.entry(r.id).or_insert(next);
        match self.rows.get_mut(id.0 as usize) {
            Some(row) => *row = buffer,
            None => self.rows.push(buffer),
        }
    }

    pub(super) fn add(&mut self, r: &wire::PlacementBatch<'_>, offset: u64, damages: &mut Damages) {
        let mut placements = r.placements();
        let of = |p: profinfer_wire::placements::Placement| Placement {
            topology: r.topology,
            index: p.index,
            buffer: p.buffer,
            offset,
        };
        self.placements.extend(placements.by_ref().map(of));
        if placements.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
    }

    /// Assigns each tensor its buffer. Damage: the tensor or the buffer never came, or the buffer
    /// is another process's.
    pub(super) fn finish(self, ids: &HashMap<u32, TopologyId>, model: &mut Model, damages: &mut Damages) {
        for p in &self.placements {
            let topology = ids.get(&p.topology).and_then(|id| model.topologies.rows.get_mut(id.0 as usize));
            let buffer = self.buffers.get(&p.buffer).copied();
            let placed = topology.zip(buffer).and_then(|(topology, buffer)| {
                let same = self.rows.get(buffer.0 as usize)?.pid == topology.pid;
                let node = topology.nodes.get_mut(p.index as usize).filter(|_| same)?;
                node.buffer = Some(buffer);
                Some(())
            });
            if placed.is_none() {
                damages.add(DamageKind::Unresolved, 1, 0, p.offset);
            }
        }
        model.buffers = self.rows;
    }
}
