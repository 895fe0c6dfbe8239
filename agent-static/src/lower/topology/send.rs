//! Sends topologies, each content once.

use std::hash::{DefaultHasher, Hash, Hasher};

use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::graph::{Role, Tensor, TensorBatch, Topology};
use profinfer_wire::tensors::encode;

use super::Sent;
use super::collected::Collected;
use super::known::Table;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::observe::placement::{self, Unplaced};

/// Most sent topologies that are remembered by content.
const MAX_SENT: usize = 4096;
/// Tensors that are encoded at once: more than usually fit a frame.
const WINDOW: usize = 2048;

impl Lower {
    /// Sends a topology unless one with equal content was sent; addresses are not part of the
    /// content. `period` is the number of nodes after which the graph repeats.
    pub(super) fn send_topology(&mut self, pid: u32, tensors: &Collected, table: &Table, period: u16) -> u32 {
        let (n_nodes, n) = (tensors.nodes.len(), tensors.len());
        let mut hasher = DefaultHasher::new();
        (pid, n_nodes, n).hash(&mut hasher);
        for t in tensors.tensors(table) {
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
        let topology = Topology { id, pid, n_nodes: count(n_nodes), n_leafs: count(n - n_nodes) };
        let mut complete = self.emit.emit(&Record::Topology(topology), Weight::Essential);
        let mut bytes = [0u8; MAX_PAYLOAD - 32];
        let mut rest = tensors.tensors(table);
        let mut window: Vec<Tensor> = Vec::with_capacity(WINDOW.min(n));
        let mut first = 0;
        loop {
            window.extend(rest.by_ref().take(WINDOW - window.len()));
            let (n, len) = encode(&window, period, &mut bytes);
            if n == 0 {
                break;
            }
            let (topology, bytes) = (id, &bytes[..len]);
            let part = TensorBatch { topology, first, count: n, period, bytes };
            complete &= self.emit.emit(&Record::TensorBatch(part), Weight::Essential);
            first += u32::from(n);
            window.drain(..usize::from(n));
        }
        if complete {
            self.topologies.sent.insert(content, Sent { pid, wire_id: id });
            let weights = weights(tensors, table);
            self.unplaced.extend((!weights.is_empty()).then_some(Unplaced { topology: id, pid, weights }));
        }
        id
    }
}

fn weights(tensors: &Collected, table: &Table) -> Vec<placement::Weight> {
    let all = (0..).zip(tensors.tensors(table)).zip(tensors.iter());
    let weights = all.filter(|((_, t), _)| t.role == Role::Weight);
    let weight = |((index, t), raw): ((u32, Tensor), &super::raw::Raw)| placement::Weight {
        index,
        buffer: raw.buffer,
        data: t.data,
        bytes: t.bytes,
    };
    weights.map(weight).collect()
}
