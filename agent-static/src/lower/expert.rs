//! Expert level: packs the selections of the routers into one batch per graph call.

use profinfer_wire::experts::Cursor;
use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::record::Record;
use profinfer_wire::record::expert::{ExpertBatch, ExpertLoss};

use super::Lower;
use crate::bpf::Totals;
use crate::bpf::ring;
use crate::link::emit::Emitter;
use crate::link::output::Weight;

/// Space for the packed runs of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 32;

/// Counts on the agent's side, with the names of the wire's `ExpertLoss`.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    sent: u64,
    queue_full: u64,
    unreadable: u64,
    pub(super) no_graph: u64,
}

/// Selections of one graph call that are being packed.
#[derive(Debug)]
pub(super) struct Selections {
    runs: u16,
    experts: u64,
    len: usize,
    cursor: Cursor,
    bytes: Box<[u8; BATCH_BYTES]>,
}

impl Selections {
    pub(super) fn new() -> Self {
        Self { runs: 0, experts: 0, len: 0, cursor: Cursor::default(), bytes: Box::new([0; BATCH_BYTES]) }
    }

    pub(super) const fn len(&self) -> u64 {
        self.experts
    }

    /// Packs one run; false if there is no space.
    fn push(&mut self, node: u32, n_used: u32, first: u32, experts: &[u32]) -> bool {
        let end = self.cursor.encode(node, n_used, first, experts, &mut *self.bytes, self.len);
        let (Some(end), Some(runs)) = (end, self.runs.checked_add(1)) else { return false };
        (self.len, self.runs) = (end, runs);
        self.experts += experts.len() as u64;
        true
    }

    /// Sends the packed runs and restarts in the same memory.
    pub(super) fn send(&mut self, emit: &mut Emitter, counts: &mut Counts, graph: u32, topology: u32) {
        if self.runs == 0 {
            return;
        }
        let bytes = &self.bytes[..self.len];
        let record = ExpertBatch { graph, topology, count: self.runs, bytes };
        let sent = emit.emit(&Record::ExpertBatch(record), Weight::Droppable);
        *(if sent { &mut counts.sent } else { &mut counts.queue_full }) += self.experts;
        (self.runs, self.experts, self.len, self.cursor) = (0, 0, 0, Cursor::default());
    }
}

impl Lower {
    pub(super) fn experts(&mut self, e: &ring::Experts<'_>) {
        let counts = &mut self.experts;
        let open = self.graphs.find(e.head.tgid, e.graph);
        let known = open.and_then(|o| {
            let (topology, graph) = (o.topology.as_ref()?, o.id);
            Some((topology.index(e.node, 0)?, topology.wire_id, graph, &mut o.selections))
        });
        let Some((node, topology, graph, selections)) = known.filter(|_| e.n_used > 0) else {
            counts.no_graph += e.ids().count() as u64;
            return;
        };
        let selections =
            selections.get_or_insert_with(|| self.spare_selections.pop().unwrap_or_else(Selections::new));
        // After an unreadable expert a new run begins.
        let (mut run, mut len, mut first) = ([0; ring::EXPERTS_MAX], 0, e.first);
        for (position, id) in (e.first..).zip(e.ids().map(Some).chain([None])) {
            if let Some(Some(id)) = id {
                run[len] = id;
                len += 1;
                continue;
            }
            if len > 0 && !selections.push(node, e.n_used, first, &run[..len]) {
                selections.send(&mut self.emit, counts, graph, topology);
                if !selections.push(node, e.n_used, first, &run[..len]) {
                    counts.unreadable += len as u64;
                }
            }
            counts.unreadable += u64::from(id.is_some());
            (len, first) = (0, position.saturating_add(1));
        }
    }

    /// Sends the ledger of selected experts, if there are any.
    pub fn emit_expert_loss(&mut self, at_ns: u64, kernel: &Totals, weight: Weight) {
        if kernel.experts_chosen == 0 {
            return;
        }
        let loss = ExpertLoss {
            at_ns,
            chosen: kernel.experts_chosen,
            sent: self.experts.sent,
            ring_full: kernel.experts_ring_full,
            queue_full: self.experts.queue_full,
            unreadable: kernel.experts_unreadable + self.experts.unreadable,
            no_graph: self.experts.no_graph,
        };
        self.emit.emit(&Record::ExpertLoss(loss), weight);
    }
}
