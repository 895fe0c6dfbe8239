//! Topologies of graphs, assembled from their parts.

use std::collections::{BTreeMap, HashMap};

use profinfer_wire::record::graph::{self as wire, Tensor, TensorBatch, Tensors};
use profinfer_wire::tensors::NO_TENSOR;

use super::damage::Damages;
use crate::model::{DamageKind, Node, NodeIdx, Role, Text, Topologies, Topology, TopologyId};

/// Largest accepted topology; the agent's own limit is 16,384 nodes and as many leafs.
const MAX_TENSORS: u32 = 1 << 17;

/// Missing tensors, over all topologies, that are accepted of any stream.
const MIN_BELIEVED: u32 = 1 << 14;

/// Parts in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    heads: BTreeMap<u32, wire::Topology>,
    parts: HashMap<u32, Vec<(u64, Tensor)>>,
}

/// The finished table, and its ids by the numbers that other records use.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) table: Topologies,
    pub(super) ids: HashMap<u32, TopologyId>,
}

impl Assembly {
    pub(super) fn head(&mut self, r: &wire::Topology) {
        self.heads.insert(r.id, *r);
    }

    pub(super) fn part(&mut self, r: &Tensors<'_>, offset: u64, damages: &mut Damages) {
        let tensors = self.parts.entry(r.topology).or_default();
        let before = tensors.len();
        // In 64 bits no index overflows, whatever the stream claims.
        tensors.extend((u64::from(r.first)..).zip(r.iter()));
        if tensors.len() - before != usize::from(r.count) {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
    }

    /// As [`Self::part`], for a part in the compact coding.
    pub(super) fn batch(&mut self, r: &TensorBatch<'_>, offset: u64, damages: &mut Damages) {
        let mut tensors = vec![NO_TENSOR; r.most()];
        let n = r.decode(&mut tensors);
        self.parts.entry(r.topology).or_default().extend((u64::from(r.first)..).zip(tensors).take(n));
        if n != usize::from(r.count) {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
    }

    /// `stream_bytes` limits the accepted number of missing tensors, so that memory grows with the
    /// stream.
    pub(super) fn finish(
        mut self,
        texts: &HashMap<u32, Text>,
        stream_bytes: u64,
        damages: &mut Damages,
    ) -> Finished {
        let mut believed = stream_bytes.max(u64::from(MIN_BELIEVED));
        let mut finished = Finished { table: Topologies::default(), ids: HashMap::new() };
        for (wire_id, head) in std::mem::take(&mut self.heads) {
            let total = head.n_nodes.saturating_add(head.n_leafs);
            let parts = self.parts.remove(&wire_id).unwrap_or_default();
            let absent = u64::from(total).saturating_sub(parts.len() as u64);
            if total > MAX_TENSORS || absent > believed {
                damages.add(DamageKind::Malformed, 1, 0, 0);
                continue;
            }
            believed -= absent;
            let mut nodes = vec![None; total as usize];
            for (index, tensor) in parts {
                if let Some(slot) = usize::try_from(index).ok().and_then(|i| nodes.get_mut(i)) {
                    *slot = Some(tensor);
                } else {
                    damages.add(DamageKind::Unresolved, 1, 0, 0);
                }
            }
            let missing = nodes.iter().filter(|n| n.is_none()).count() as u64;
            if missing > 0 {
                damages.add(DamageKind::Unresolved, missing, 0, 0);
            }
            let nodes = nodes.into_iter().map(|t| node(t, total, texts, damages)).collect();
            let id = TopologyId(u32::try_from(finished.table.rows.len()).unwrap_or(u32::MAX));
            finished.ids.insert(wire_id, id);
            let complete = missing == 0;
            finished.table.rows.push(Topology { pid: head.pid, n_nodes: head.n_nodes, nodes, complete });
        }
        let orphans: usize = self.parts.into_values().map(|tensors| tensors.len()).sum();
        if orphans > 0 {
            damages.add(DamageKind::Unresolved, orphans as u64, 0, 0);
        }
        finished
    }
}

fn node(tensor: Option<Tensor>, total: u32, texts: &HashMap<u32, Text>, damages: &mut Damages) -> Node {
    let mut lost = 0;
    let mut text = |id: u32| {
        texts.get(&id).copied().unwrap_or_else(|| {
            lost += u64::from(id != 0);
            Text::default()
        })
    };
    let Some(t) = tensor else {
        let none = Text::default();
        return Node {
            name: none,
            op: none,
            desc: none,
            dtype: none,
            role: Role::Other,
            ne: [0; 4],
            bytes: 0,
            address: 0,
            data: 0,
            buffer: None,
            view_of: None,
            src: Vec::new(),
        };
    };
    let index = |plus_one: u32| plus_one.checked_sub(1).filter(|i| *i < total).map(NodeIdx);
    let node = Node {
        name: text(t.name),
        op: text(t.op),
        desc: text(t.desc),
        dtype: text(t.dtype),
        role: t.role.into(),
        ne: t.ne,
        bytes: t.bytes,
        address: t.address,
        data: t.data,
        buffer: None,
        view_of: index(t.view_of),
        src: (0..).zip(t.src).filter_map(|(slot, s)| Some((slot, index(s)?))).collect(),
    };
    if lost > 0 {
        damages.add(DamageKind::Unresolved, lost, 0, 0);
    }
    node
}
