//! Codes the parts of a batch: the sequences and positions of its tokens.
//!
//! ```text
//! part = head [skip n_seq] [seq] [pos] [outputs]
//! head = n << 5 | flags
//! flags  1 seq known, 2 pos known, 4 outputs known, 8 skip and n_seq follow,
//!        16 all tokens have one position
//! skip   tokens between the end of the previous part (or the begin of the batch) and this one;
//!        0 if absent
//! n_seq  sequences per token, the first of which is `seq`; 1 if absent and `seq` is known
//! seq, pos   zigzag
//! ```
//! A part is consecutive tokens of one sequence whose positions are consecutive. A prompt is one
//! part; so is each token that a server generates for a slot.

use crate::batch::{Batch, Decode};
use crate::varint::{MAX_LEN, put, take, unzigzag, zigzag};

const SEQ: u64 = 1;
const POS: u64 = 2;
const OUTPUTS: u64 = 4;
const RARE: u64 = 8;
const SAME: u64 = 16;
const FLAGS: u32 = 5;

/// Longest encoding of one part in bytes: a head of 37 bits, and five numbers of at most 33.
pub const MAX_PART_LEN: usize = 6 * MAX_LEN;

/// Consecutive tokens of one sequence in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index of the first token in the batch, from 0.
    pub first: u32,
    /// Tokens, at least one.
    pub n: u32,
    /// The sequence of each token, or the first one of several; `None` when the batch has no list
    /// of sequences.
    pub seq: Option<i32>,
    /// Sequences per token; 0 when the batch has no list of sequences.
    pub n_seq: u32,
    /// Position of the first token; `None` when the batch has no positions.
    pub pos: Option<i32>,
    /// All tokens have that position; otherwise positions rise by one.
    pub same: bool,
    /// Tokens with a requested output; `None` when the batch has no list of outputs.
    pub outputs: Option<u32>,
}

/// The state that one part is coded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// First token after the previous part.
    next: u32,
}

impl Cursor {
    /// Appends a part to `buf` at `at`; returns the next free position. `None`, with the cursor
    /// unchanged, when there is no space or the part is invalid: it begins before the end of the
    /// previous one, has no tokens, has no end, or has unknown sequences.
    #[must_use]
    pub fn encode(&mut self, part: &Part, buf: &mut [u8], mut at: usize) -> Option<usize> {
        let skip = part.first.checked_sub(self.next)?;
        let next = part.first.checked_add(part.n).filter(|_| part.n > 0)?;
        if part.seq.is_none() && part.n_seq > 0 || part.pos.is_none() && part.same {
            return None;
        }
        let flag = |set: bool, flag: u64| if set { flag } else { 0 };
        let rare = skip > 0 || part.n_seq != u32::from(part.seq.is_some());
        let flags = flag(part.seq.is_some(), SEQ)
            | flag(part.pos.is_some(), POS)
            | flag(part.outputs.is_some(), OUTPUTS)
            | flag(rare, RARE)
            | flag(part.same, SAME);
        at = put(buf, at, u64::from(part.n) << FLAGS | flags)?;
        if rare {
            at = put(buf, at, skip.into())?;
            at = put(buf, at, part.n_seq.into())?;
        }
        for number in [part.seq, part.pos].into_iter().flatten() {
            at = put(buf, at, zigzag(number.into()))?;
        }
        if let Some(outputs) = part.outputs {
            at = put(buf, at, outputs.into())?;
        }
        self.next = next;
        Some(at)
    }
}

fn signed(buf: &mut &[u8]) -> Option<i32> {
    i32::try_from(unzigzag(take(buf)?)).ok()
}

fn unsigned(buf: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(buf)?).ok()
}

impl Decode<'_> for Cursor {
    type Item = Part;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<Part> {
        let head = take(buf)?;
        let has = |flag: u64| head & flag != 0;
        let n = u32::try_from(head >> FLAGS).ok().filter(|n| *n > 0)?;
        let (skip, n_seq) =
            if has(RARE) { (unsigned(buf)?, unsigned(buf)?) } else { (0, u32::from(has(SEQ))) };
        let seq = if has(SEQ) { Some(signed(buf)?) } else { None };
        let pos = if has(POS) { Some(signed(buf)?) } else { None };
        let outputs = if has(OUTPUTS) { Some(unsigned(buf)?) } else { None };
        if !has(SEQ) && n_seq > 0 || !has(POS) && has(SAME) {
            return None;
        }
        let first = self.next.checked_add(skip)?;
        self.next = first.checked_add(n)?;
        Some(Part { first, n, seq, n_seq, pos, same: has(SAME), outputs })
    }
}

/// The parts of a record.
pub type Parts<'a> = Batch<'a, Cursor>;

impl<'a> Parts<'a> {
    /// The parts of one record, see [`crate::record::part::PartBatch`].
    #[must_use]
    pub const fn new(count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Cursor { next: 0 }, count, bytes)
    }
}
