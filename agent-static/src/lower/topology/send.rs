//! Sends topologies, each content once.

use std::hash::{DefaultHasher, Hash, Hasher};

use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::graph::{Role, Tensor, TensorBatch, Topology};
use profinfer_wire::tensors::encode;

use super::Sent;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::observe::placement::{self, Unplaced};

/// Most sent topologies that are remembered by content.
const MAX_SENT: usize = 4096;

impl Lower {
    /// Sends a topology unless one with equal content was sent; addresses are not part of the
    /// content. `buffers` are the addresses of the engine's structs for the tensors' buffers,
    /// `period` the number of nodes after which the graph repeats.
    pub(super) fn send_topology(
        &mut self,
        pid: u32,
        n_nodes: usize,
        tensors: &[Tensor],
        buffers: &[u64],
        period: u16,
    ) -> u32 {
        let mut hasher = DefaultHasher::new();
        (pid, n_nodes, tensors.len()).hash(&mut hasher);
        for t in tensors {
            (t.name, t.op, t.desc, t.dtype, t.role, t.ne, t.view_of, t.src).hash(&mut hasher);
        }
        let content = hasher.finish();
        if let Some(sent) = self.topologies.sent.get(&content) {
            return sent.wire_id;
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
            let (n, len) = encode(&tensors[first..], period, &mut bytes);
            if n == 0 {
                break;
            }
            let (topology, bytes) = (id, &bytes[..len]);
            let part = TensorBatch { topology, first: count(first), count: n, period, bytes };
            whole &= self.emit.emit(&Record::TensorBatch(part), Weight::Essential);
            first += usize::from(n);
        }
        if whole {
            self.topologies.sent.insert(content, Sent { pid, wire_id: id });
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
