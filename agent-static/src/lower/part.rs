//! Token level: packs the parts of batches into one record per call.

use profinfer_wire::parts::Cursor;
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::part::{PartBatch, PartLoss};

use super::Lower;
use crate::bpf::Totals;
use crate::bpf::ring;
use crate::link::output::Weight;

/// Space for the packed parts of one record: a server's batch has one part per slot. More parts
/// need several records.
const BATCH_BYTES: usize = 2048;
/// Most parts that wait for the call with their batch: those of two batches with the most parts that
/// are read.
const MAX_WAITING: usize = 512;

/// The parts of one call that are being packed, and counts on the agent's side, with the names of
/// the wire's `PartLoss`.
#[derive(Debug)]
pub(super) struct Parts {
    /// Id of the call; 0 if nothing is packed.
    decode: u32,
    count: u16,
    tokens: u64,
    len: usize,
    cursor: Cursor,
    bytes: Box<[u8; BATCH_BYTES]>,
    /// Parts of batches whose call has not begun.
    waiting: Vec<ring::Part>,
    sent: u64,
    queue_full: u64,
    no_call: u64,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            decode: 0,
            count: 0,
            tokens: 0,
            len: 0,
            cursor: Cursor::default(),
            bytes: Box::new([0; BATCH_BYTES]),
            waiting: Vec::new(),
            sent: 0,
            queue_full: 0,
            no_call: 0,
        }
    }
}

impl Lower {
    /// Packs a part of a running call, and keeps one of a batch whose call has not begun. The parts
    /// of a call arrive in order, possibly with those of other threads' calls in between.
    pub(super) fn part(&mut self, e: &ring::Part) {
        if self.levels & level::TOKEN == 0 {
            return;
        }
        match self.tokens.with_batch(&e.head, e.batch) {
            0 if self.parts.waiting.len() < MAX_WAITING => self.parts.waiting.push(*e),
            0 => self.parts.no_call += u64::from(e.part.n),
            decode => self.part_of(decode, e),
        }
    }

    /// Packs the waiting parts of a call that begins. Those of other batches of the thread are of no
    /// call.
    pub(super) fn take_parts(&mut self, call: &ring::Decode) {
        let own = |p: &ring::Part| (p.head.tgid, p.head.tid) == (call.head.tgid, call.head.tid);
        let decode = self.tokens.current(&call.head);
        let mut waiting = std::mem::take(&mut self.parts.waiting);
        for part in waiting.iter().filter(|p| own(p)) {
            if part.batch == call.batch {
                self.part_of(decode, part);
            } else {
                self.parts.no_call += u64::from(part.part.n);
            }
        }
        waiting.retain(|p| !own(p));
        self.parts.waiting = waiting;
    }

    fn part_of(&mut self, decode: u32, e: &ring::Part) {
        let tokens = u64::from(e.part.n);
        if self.parts.decode != decode {
            self.send_parts();
        }
        if !self.pack_part(decode, e) {
            self.send_parts();
            if !self.pack_part(decode, e) {
                self.parts.no_call += tokens;
            }
        }
    }

    fn pack_part(&mut self, decode: u32, e: &ring::Part) -> bool {
        let p = &mut self.parts;
        let end = p.cursor.encode(&e.part, &mut *p.bytes, p.len);
        let (Some(end), Some(count)) = (end, p.count.checked_add(1)) else { return false };
        (p.decode, p.len, p.count) = (decode, end, count);
        p.tokens += u64::from(e.part.n);
        true
    }

    /// Sends the packed parts and restarts in the same memory.
    pub(super) fn send_parts(&mut self) {
        let p = &mut self.parts;
        if p.count > 0 {
            let record = PartBatch { decode: p.decode, count: p.count, bytes: &p.bytes[..p.len] };
            let sent = self.emit.emit(&Record::PartBatch(record), Weight::Droppable);
            *(if sent { &mut p.sent } else { &mut p.queue_full }) += p.tokens;
        }
        (p.decode, p.count, p.tokens, p.len, p.cursor) = (0, 0, 0, 0, Cursor::default());
    }

    /// Sends how many tokens the batches had and for how many the sequence is known, if there are
    /// any.
    pub fn emit_part_loss(&mut self, at_ns: u64, kernel: &Totals, weight: Weight) {
        if kernel.part_tokens == 0 || self.levels & level::TOKEN == 0 {
            return;
        }
        self.send_parts();
        let waiting: u64 = self.parts.waiting.iter().map(|p| u64::from(p.part.n)).sum();
        let loss = PartLoss {
            at_ns,
            tokens: kernel.part_tokens,
            sent: self.parts.sent,
            ring_full: kernel.part_ring_full,
            queue_full: self.parts.queue_full,
            unreadable: kernel.part_unreadable,
            left_out: kernel.part_left_out,
            no_call: self.parts.no_call + waiting,
        };
        self.emit.emit(&Record::PartLoss(loss), weight);
    }
}
