//! Inner calls: a backend's functions inside operators, packed into one batch for each graph call.

use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::inner::{InnerBatch, InnerCall, InnerLoss, MAX_INNER_CALL_LEN};

use super::Lower;
use crate::backend_function::FUNCTIONS;
use crate::bpf::InnerTotals;
use crate::link::output::Weight;
use crate::ring;

/// Room for the packed calls of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 64;

/// The batch that is being filled, and what was counted.
#[derive(Debug, Default)]
pub(super) struct InnerCalls {
    /// Graph call.
    graph: u32,
    shape: u32,
    base_ns: u64,
    count: u16,
    /// Made when the first call comes: most engines have none.
    bytes: Vec<u8>,
    sent: u64,
    queue_full: u64,
    no_graph: u64,
    /// In graph calls that were running when the session ended.
    edge: u64,
}

impl InnerCalls {
    /// Drops what belongs to a graph call that was not seen to end.
    pub(super) fn drop_open(&mut self) {
        self.edge += u64::from(std::mem::take(&mut self.count));
        self.bytes.clear();
    }
}

impl Lower {
    pub(super) fn inner_call(&mut self, e: &ring::Inner) {
        let (slot, depth) = (e.head.arg & 0xffff, e.head.arg >> 16);
        let open = self.graphs.find(e.head.tgid, e.graph);
        let known = open.and_then(|o| {
            let shape = o.shape.as_ref()?;
            Some((o.id, o.start_ns, shape.wire_id, shape.index(e.node, 0)?))
        });
        let (Some((graph, base_ns, shape, node)), Some(function)) = (known, FUNCTIONS.get(slot as usize))
        else {
            self.inner.no_graph += 1;
            return;
        };
        let (Some(start_ns), Some(duration_ns)) =
            (e.start_ns.checked_sub(base_ns), e.end_ns.checked_sub(e.start_ns))
        else {
            self.inner.no_graph += 1;
            return;
        };
        self.thread(e.head.tgid, e.head.tid);
        let call = InnerCall {
            tid: e.head.tid,
            function: self.texts.id(&mut self.emit, function.symbol),
            backend: self.texts.id(&mut self.emit, function.backend()),
            node,
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
            start_ns,
            duration_ns,
        };
        let full = self.inner.bytes.len() + MAX_INNER_CALL_LEN > BATCH_BYTES || self.inner.count == u16::MAX;
        if full || self.inner.graph != graph {
            self.send_inner();
        }
        self.inner.push(&call, (graph, shape, base_ns));
    }

    /// Sends what there is of a graph call that has ended.
    pub(super) fn send_inner_of(&mut self, graph: u32) {
        if self.inner.graph == graph {
            self.send_inner();
        }
    }

    fn send_inner(&mut self) {
        let InnerCalls { graph, shape, base_ns, count, .. } = self.inner;
        if count == 0 {
            return;
        }
        let record = InnerBatch { graph, shape, base_ns, count, bytes: &self.inner.bytes };
        let sent = self.emit.emit(&Record::InnerBatch(record), Weight::Droppable);
        let total = if sent { &mut self.inner.sent } else { &mut self.inner.queue_full };
        *total += u64::from(count);
        self.inner.count = 0;
        self.inner.bytes.clear();
    }

    /// Says how many inner calls there were and what became of them, once there were any.
    pub fn tell_inner_loss(&mut self, at_ns: u64, kernel: &InnerTotals, weight: Weight) {
        if *kernel == InnerTotals::default() {
            return;
        }
        let loss = InnerLoss {
            at_ns,
            starts: kernel.starts,
            ends: kernel.ends,
            sent: self.inner.sent,
            ring_full: kernel.ring_full,
            queue_full: self.inner.queue_full,
            no_start: kernel.no_start + self.inner.edge,
            no_end: kernel.no_end,
            no_graph: self.inner.no_graph,
        };
        self.emit.emit(&Record::InnerLoss(loss), weight);
    }
}

impl InnerCalls {
    fn push(&mut self, call: &InnerCall, (graph, shape, base_ns): (u32, u32, u64)) {
        (self.graph, self.shape, self.base_ns) = (graph, shape, base_ns);
        if self.bytes.capacity() < BATCH_BYTES {
            self.bytes.reserve_exact(BATCH_BYTES);
        }
        let mut packed = [0; MAX_INNER_CALL_LEN];
        match postcard::to_slice(call, &mut packed) {
            Ok(packed) => {
                self.bytes.extend_from_slice(packed);
                self.count += 1;
            }
            // The longest fits, as wire's tests hold.
            Err(_) => self.no_graph += 1,
        }
    }
}
