//! Nested calls: packs calls of a backend's functions inside operators into one batch per graph
//! call.

use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::nested::{MAX_NESTED_CALL_LEN, NestedBatch, NestedCall, NestedLoss};

use super::Lower;
use crate::bpf::NestedTotals;
use crate::bpf::backend_function::FUNCTIONS;
use crate::bpf::ring;
use crate::link::output::Weight;

/// Space for the packed calls of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 64;

/// The batch that is being filled, and its counts.
#[derive(Debug, Default)]
pub(super) struct NestedCalls {
    /// Graph call.
    graph: u32,
    topology: u32,
    base_ns: u64,
    count: u16,
    /// Allocated at the first call: most engines have none.
    bytes: Vec<u8>,
    sent: u64,
    queue_full: u64,
    no_graph: u64,
    /// In graph calls that were running when the session ended.
    edge: u64,
}

impl NestedCalls {
    /// Drops calls of a graph call without an end.
    pub(super) fn drop_open(&mut self) {
        self.edge += u64::from(std::mem::take(&mut self.count));
        self.bytes.clear();
    }
}

impl Lower {
    pub(super) fn nested_call(&mut self, e: &ring::Nested) {
        let (slot, depth) = (e.head.arg & 0xffff, e.head.arg >> 16);
        let open = self.graphs.find(e.head.tgid, e.graph);
        let known = open.and_then(|o| {
            let topology = o.topology.as_ref()?;
            Some((o.id, o.start_ns, topology.wire_id, topology.index(e.node, 0)?))
        });
        let (Some((graph, base_ns, topology, node)), Some(function)) = (known, FUNCTIONS.get(slot as usize))
        else {
            self.nested.no_graph += 1;
            return;
        };
        let (Some(start_ns), Some(duration_ns)) =
            (e.start_ns.checked_sub(base_ns), e.end_ns.checked_sub(e.start_ns))
        else {
            self.nested.no_graph += 1;
            return;
        };
        self.thread(e.head.tgid, e.head.tid);
        let call = NestedCall {
            tid: e.head.tid,
            function: self.texts.id(&mut self.emit, function.symbol),
            backend: self.texts.id(&mut self.emit, function.backend()),
            node,
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
            start_ns,
            duration_ns,
        };
        let full =
            self.nested.bytes.len() + MAX_NESTED_CALL_LEN > BATCH_BYTES || self.nested.count == u16::MAX;
        if full || self.nested.graph != graph {
            self.send_nested();
        }
        self.nested.push(&call, (graph, topology, base_ns));
    }

    /// Sends the calls of a graph call that has ended.
    pub(super) fn send_nested_of(&mut self, graph: u32) {
        if self.nested.graph == graph {
            self.send_nested();
        }
    }

    fn send_nested(&mut self) {
        let NestedCalls { graph, topology, base_ns, count, .. } = self.nested;
        if count == 0 {
            return;
        }
        let record = NestedBatch { graph, topology, base_ns, count, bytes: &self.nested.bytes };
        let sent = self.emit.emit(&Record::NestedBatch(record), Weight::Droppable);
        let total = if sent { &mut self.nested.sent } else { &mut self.nested.queue_full };
        *total += u64::from(count);
        self.nested.count = 0;
        self.nested.bytes.clear();
    }

    /// Sends the ledger of nested calls, if there are any.
    pub fn emit_nested_loss(&mut self, at_ns: u64, kernel: &NestedTotals, weight: Weight) {
        if *kernel == NestedTotals::default() {
            return;
        }
        let loss = NestedLoss {
            at_ns,
            starts: kernel.starts,
            ends: kernel.ends,
            sent: self.nested.sent,
            ring_full: kernel.ring_full,
            queue_full: self.nested.queue_full,
            no_start: kernel.no_start + self.nested.edge,
            no_end: kernel.no_end,
            no_graph: self.nested.no_graph,
        };
        self.emit.emit(&Record::NestedLoss(loss), weight);
    }
}

impl NestedCalls {
    fn push(&mut self, call: &NestedCall, (graph, topology, base_ns): (u32, u32, u64)) {
        (self.graph, self.topology, self.base_ns) = (graph, topology, base_ns);
        if self.bytes.capacity() < BATCH_BYTES {
            self.bytes.reserve_exact(BATCH_BYTES);
        }
        let mut packed = [0; MAX_NESTED_CALL_LEN];
        match postcard::to_slice(call, &mut packed) {
            Ok(packed) => {
                self.bytes.extend_from_slice(packed);
                self.count += 1;
            }
            // The longest one fits, which wire's tests verify.
            Err(_) => self.no_graph += 1,
        }
    }
}
