//! A batch of packed events of the scheduler level.

use profinfer_wire::frame::MAX_PAYLOAD;

/// Space for the packed events of one batch: a frame without the other fields of the record.
const BATCH_BYTES: usize = MAX_PAYLOAD - 64;

/// A batch that is being filled.
#[derive(Debug)]
pub(super) struct Packed<C> {
    pub(super) base_ns: u64,
    pub(super) count: u16,
    pub(super) len: usize,
    pub(super) cursor: C,
    pub(super) bytes: Box<[u8; BATCH_BYTES]>,
}

impl<C> Packed<C> {
    pub(super) fn new(cursor: C) -> Self {
        Self { base_ns: 0, count: 0, len: 0, cursor, bytes: Box::new([0; BATCH_BYTES]) }
    }

    /// Whether `longest` further bytes may not fit.
    pub(super) fn full(&self, longest: usize) -> bool {
        self.len + longest > BATCH_BYTES || self.count >= u16::MAX - 64
    }

    pub(super) fn clear(&mut self) {
        (self.count, self.len) = (0, 0);
    }
}

pub(super) fn cpu(cpu: u32) -> u16 {
    u16::try_from(cpu).unwrap_or(u16::MAX)
}
