//! Spans of one thread in one graph call, packed for a record.

use profinfer_wire::counts::{Counted, MAX_COUNTED_LEN};
use profinfer_wire::frame::MAX_PAYLOAD;
use profinfer_wire::span::{Cursor, MAX_SPAN_LEN, Span};

use super::starts::Running;

/// Room for the packed spans of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 64;
/// Spans of one thread that are being packed.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) tid: u32,
    pub(super) base_ns: u64,
    pub(super) cpu: u16,
    pub(super) count: u16,
    pub(super) len: usize,
    pub(super) last_index: u32,
    cursor: Cursor,
    pub(super) bytes: Box<[u8; BATCH_BYTES]>,
    /// What the spans counted, made when the first one counts; together with `bytes` it must fit a frame.
    pub(super) counts: Option<Box<[u8; BATCH_BYTES]>>,
    pub(super) counts_len: usize,
    /// Where there are no ends: the span that began last.
    pub(super) running: Option<Running>,
}

impl Batch {
    /// Begins anew for a thread, whose first span starts at `base_ns` on `cpu`.
    pub(super) fn begin(mut self, tid: u32, base_ns: u64, cpu: u16) -> Self {
        self.restart(tid, base_ns, cpu);
        self
    }

    /// The same in place.
    pub(super) fn restart(&mut self, tid: u32, base_ns: u64, cpu: u16) {
        self.tid = tid;
        self.base_ns = base_ns;
        self.cpu = cpu;
        self.count = 0;
        self.len = 0;
        self.counts_len = 0;
        self.cursor = Cursor::new(base_ns, cpu);
    }

    /// Memory for a batch.
    pub(super) fn new() -> Self {
        Self {
            tid: 0,
            base_ns: 0,
            cpu: 0,
            count: 0,
            len: 0,
            last_index: 0,
            cursor: Cursor::new(0, 0),
            bytes: Box::new([0; BATCH_BYTES]),
            counts: None,
            counts_len: 0,
            running: None,
        }
    }

    /// Number of spans.
    pub(super) fn len(&self) -> u64 {
        self.count.into()
    }

    /// Packs a span; false when there is no room.
    pub(super) fn push(&mut self, span: &Span, counted: Option<&Counted>) -> bool {
        let longest = MAX_SPAN_LEN + if counted.is_some() { MAX_COUNTED_LEN } else { 0 };
        if self.len + self.counts_len + longest > BATCH_BYTES || self.count == u16::MAX {
            return false;
        }
        let Some(len) = self.cursor.encode(span, &mut *self.bytes, self.len) else { return false };
        self.len = len;
        if let Some(counted) = counted {
            let counts = self.counts.get_or_insert_with(|| Box::new([0; BATCH_BYTES]));
            // There is room, see above.
            self.counts_len = counted.encode(&mut **counts, self.counts_len).unwrap_or(self.counts_len);
        }
        self.count += 1;
        self.last_index = span.last_node;
        true
    }
}
