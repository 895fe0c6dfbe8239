//! Expert level: what the routers chose, packed into a batch per graph call.

use profinfer_wire::experts::Cursor;
use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::expert::{ExpertBatch, ExpertLoss};
use profinfer_wire::varint;

use super::Lower;
use crate::bpf::Totals;
use crate::emit::Emitter;
use crate::link::output::Weight;
use crate::ring;

/// Room for the packed runs of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 32;
/// Longest run of one record of the kernel: node, n_used, first, count and the experts.
const MAX_RUN_LEN: usize = (4 + ring::EXPERTS_MAX) * varint::MAX_LEN;

/// Counts on the agent's side; names as in the wire's `ExpertLoss`.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    sent: u64,
    queue_full: u64,
    unreadable: u64,
    pub(super) no_graph: u64,
}

/// Choices of one graph call that are being packed.
#[derive(Debug)]
pub(super) struct Choices {
    runs: u16,
    experts: u64,
    len: usize,
    cursor: Cursor,
    bytes: Box<[u8; BATCH_BYTES]>,
}

impl Choices {
    /// Nothing yet, with memory for what comes.
    pub(super) fn new() -> Self {
        Self { runs: 0, experts: 0, len: 0, cursor: Cursor::default(), bytes: Box::new([0; BATCH_BYTES]) }
    }

    /// Number of experts.
    pub(super) const fn len(&self) -> u64 {
        self.experts
    }

    /// Sends what is packed, and begins anew in the same memory.
    pub(super) fn send(&mut self, emit: &mut Emitter, counts: &mut Counts, graph: u32, shape: u32) {
        if self.runs == 0 {
            return;
        }
        let bytes = &self.bytes[..self.len];
        let record = ExpertBatch { graph, shape, count: self.runs, bytes };
        let sent = emit.emit(&Record::ExpertBatch(record), Weight::Droppable);
        *(if sent { &mut counts.sent } else { &mut counts.queue_full }) += self.experts;
        (self.runs, self.experts, self.len, self.cursor) = (0, 0, 0, Cursor::default());
    }
}

impl Lower {
    pub(super) fn experts(&mut self, e: &ring::Experts) {
        let ids = &e.ids[..ring::EXPERTS_MAX.min(e.head.arg as usize)];
        let all = ids.len() as u64;
        let Some(open) = self.graphs.find(e.head.tgid, e.graph) else {
            self.experts.no_graph += all;
            return;
        };
        let node = open.shape.as_ref().and_then(|s| Some((s.wire_id, s.index(e.node, 0)?)));
        let Some((shape, node)) = node.filter(|_| e.n_used > 0) else {
            self.experts.no_graph += all;
            return;
        };
        let graph = open.id;
        let choices = open.choices.get_or_insert_with(|| self.spare_choices.pop().unwrap_or_else(Choices::new));
        if choices.len + 2 * MAX_RUN_LEN > BATCH_BYTES || choices.runs > u16::MAX - ring::EXPERTS_MAX as u16 {
            choices.send(&mut self.emit, &mut self.experts, graph, shape);
        }
        // Where one could not be read, a new run begins behind it.
        let mut known = [0; ring::EXPERTS_MAX];
        let mut first = e.first;
        for run in ids.split(Option::is_none) {
            for (to, from) in known.iter_mut().zip(run.iter().flatten()) {
                *to = *from;
            }
            let experts = &known[..run.len()];
            if !experts.is_empty() {
                let end = choices.cursor.encode(node, e.n_used, first, experts, &mut *choices.bytes, choices.len);
                if let Some(end) = end {
                    choices.len = end;
                    choices.runs += 1;
                    choices.experts += experts.len() as u64;
                } else {
                    self.experts.unreadable += experts.len() as u64;
                }
            }
            first = first.saturating_add(1 + run.len() as u32);
        }
        self.experts.unreadable += ids.iter().filter(|id| id.is_none()).count() as u64;
    }

    /// The ledger of experts so far, `None` where no choice was met.
    #[must_use]
    pub fn expert_loss(&self, at_ns: u64, kernel: &Totals) -> Option<ExpertLoss> {
        (kernel.experts_chosen > 0).then_some(ExpertLoss {
            at_ns,
            chosen: kernel.experts_chosen,
            sent: self.experts.sent,
            ring_full: kernel.experts_ring_full,
            queue_full: self.experts.queue_full,
            unreadable: kernel.experts_unreadable + self.experts.unreadable,
            no_graph: self.experts.no_graph,
        })
    }
}
