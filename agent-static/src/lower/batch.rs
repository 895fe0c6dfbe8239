//! Packs the spans of one thread in one graph call for a record.

use profinfer_wire::counts::{Counted, SLOTS};
use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::predicted::{Encoder, MAX_PERIOD, Memory, UNKNOWN, UNKNOWN_COUNTS, UsualCounts, Usually};
use profinfer_wire::span::Span;

use super::starts::Running;

/// Space for the packed spans of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 64;
/// Memory of all batches together for learning usual values, in bytes: eight threads with counters
/// and a period of 512 nodes.
const LEARNING_BYTES: usize = 512 << 10;
/// Every batch has memory for a period of this many nodes from the start, so that a graph with a
/// longer layer rarely needs more.
const USUAL_PERIOD: usize = 64;

/// Remaining memory for learning, in bytes.
#[derive(Debug)]
pub(super) struct Learning(usize);

impl Default for Learning {
    fn default() -> Self {
        Self(LEARNING_BYTES)
    }
}

impl Learning {
    /// Reserves space for `n` elements in `memory`, if enough memory remains.
    fn room<T>(&mut self, memory: &mut Vec<T>, n: usize) -> bool {
        let more = n.saturating_sub(memory.capacity());
        let bytes = more * size_of::<T>();
        if bytes > self.0 {
            return false;
        }
        memory.reserve_exact(n - memory.len().min(n));
        self.0 -= bytes;
        true
    }

    /// Returns the memory of a batch that is not kept for reuse.
    pub(super) fn give_back(&mut self, batch: &Batch) {
        self.0 += batch.usually.capacity() * size_of::<Usually>();
        self.0 += batch.counts.capacity() * size_of::<UsualCounts>();
    }
}

/// Spans of one thread that are being packed.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) tid: u32,
    pub(super) base_ns: u64,
    pub(super) cpu: u16,
    pub(super) count: u16,
    pub(super) last_index: u32,
    /// Set when the first span is packed.
    encoder: Option<Encoder>,
    bytes: Box<[u8; BATCH_BYTES]>,
    usually: Vec<Usually>,
    /// Empty without counters.
    counts: Vec<UsualCounts>,
    /// The running span, if operators have no end probes.
    pub(super) running: Option<Running>,
}

/// A span without counters.
const NOT_COUNTED: Counted = Counted { values: [None; SLOTS], switches: 0, why: 0 };

impl Batch {
    /// Memory for a batch.
    pub(super) fn new() -> Self {
        Self {
            tid: 0,
            base_ns: 0,
            cpu: 0,
            count: 0,
            last_index: 0,
            encoder: None,
            bytes: Box::new([0; BATCH_BYTES]),
            usually: Vec::new(),
            counts: Vec::new(),
            running: None,
        }
    }

    /// Restarts the batch for a thread. Its first span starts at `base_ns` on `cpu`, in a graph
    /// that repeats after `period` nodes. If there is too little memory to learn that many nodes,
    /// all nodes share one entry.
    pub(super) fn begin(
        mut self,
        tid: u32,
        (base_ns, cpu): (u64, u16),
        (period, counted): (u16, bool),
        learning: &mut Learning,
    ) -> Self {
        let period = usize::from(period.clamp(1, MAX_PERIOD));
        let room = period.max(USUAL_PERIOD);
        let fits =
            learning.room(&mut self.usually, room) && (!counted || learning.room(&mut self.counts, room));
        let period = if fits { period } else { 1 };
        self.usually.resize(period, UNKNOWN);
        self.counts.resize(if counted { period } else { 0 }, UNKNOWN_COUNTS);
        self.tid = tid;
        self.begin_again(base_ns, cpu);
        self
    }

    /// Restarts with the same thread and period.
    pub(super) fn begin_again(&mut self, base_ns: u64, cpu: u16) {
        self.usually.fill(UNKNOWN);
        self.counts.fill(UNKNOWN_COUNTS);
        let memory = Memory::new(&mut self.usually, &mut self.counts);
        self.encoder = memory.map(|m| Encoder::new(base_ns, cpu, &m));
        (self.base_ns, self.cpu, self.count) = (base_ns, cpu, 0);
    }

    pub(super) fn len(&self) -> u64 {
        self.count.into()
    }

    /// Packs a span; false if there is no space.
    pub(super) fn push(&mut self, span: &Span, counted: Option<&Counted>) -> bool {
        let memory = Memory::new(&mut self.usually, &mut self.counts);
        let Some((encoder, mut memory)) = self.encoder.as_mut().zip(memory) else { return false };
        let counted = counted.unwrap_or(&NOT_COUNTED);
        if self.count == u16::MAX || !encoder.encode(span, counted, &mut memory, &mut *self.bytes) {
            return false;
        }
        self.count += 1;
        self.last_index = span.last_node;
        true
    }

    /// The period, whether there are counts, and the packed spans.
    pub(super) fn finish(&mut self) -> (u16, bool, &[u8]) {
        let period = u16::try_from(self.usually.len()).unwrap_or(1);
        let len = self.encoder.as_mut().map_or(0, |e| e.finish(&mut *self.bytes));
        (period, !self.counts.is_empty(), &self.bytes[..len])
    }
}
