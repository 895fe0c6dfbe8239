//! Codes the operator spans of one thread in one graph call: five to seven bytes each. Agents now
//! write the coding of [`crate::predicted`]; this one is still read.
//!
//! A thread runs the nodes of a graph in order. The next node is nearly always one to four further
//! on, because views are nodes that are never run. A span starts where the last one ended plus the
//! wait at the barrier. Both are written as differences:
//!
//! ```text
//! span   = head:varint  [explicit]  work:varint
//! head   = wait_ns << 3 | code
//! code 0..=3  the node is 1..=4 after the last node covered
//! code 4..=5  the same for 1..=2, and the span also covers the node after it (fused)
//! code 6      explicit follows
//! explicit = flags:varint  node:varint (zigzag difference to the last node covered, minus 1)
//!            [fused:varint (last covered node minus node)]  [cpu:varint]
//! flags       1 fused, 2 cpu follows (it holds until the next one), 4 ended on another cpu
//! ```
//! "The last node covered" is -1 before the first span, and its end is the batch's base time.

use crate::batch::{Batch, Decode};
use crate::varint::{put, take, unzigzag, zigzag};

/// CPU of a span or batch whose CPU is unknown. No kernel has a CPU with this number.
pub const CPU_UNKNOWN: u16 = u16::MAX;

/// One operator on one thread: its work, without the wait at the barrier after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Index of the node in its topology.
    pub node: u32,
    /// Index of the last node that the same kernel computed; equal to `node` when not fused.
    pub last_node: u32,
    /// Start of work, in ns of the session's clock.
    pub start_ns: u64,
    /// Length of work in ns; the thread then waits at the barrier until its next span starts.
    pub work_ns: u64,
    /// CPU on which the work ended; [`CPU_UNKNOWN`] where that is unknown.
    pub cpu: u16,
    /// The work began on another CPU than it ended on.
    pub migrated: bool,
}

/// The state that one span is coded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    last_node: i64,
    end_ns: u64,
    cpu: u16,
}

const FUSED: u64 = 1;
const CPU: u64 = 2;
const MIGRATED: u64 = 4;
const EXPLICIT: u64 = 6;

/// Longest encoding of one span in bytes.
pub const MAX_SPAN_LEN: usize = 6 * crate::varint::MAX_LEN;

impl Cursor {
    /// The state before the first span of a batch with this base time and CPU.
    #[must_use]
    pub const fn new(base_ns: u64, cpu: u16) -> Self {
        Self { last_node: -1, end_ns: base_ns, cpu }
    }

    fn advance(&mut self, span: &Span) {
        self.last_node = i64::from(span.last_node);
        self.end_ns = span.start_ns.saturating_add(span.work_ns);
        self.cpu = span.cpu;
    }

    /// Appends `span` to `buf` at `at`; returns the next free position. `None`, with the cursor
    /// unchanged, when there is no space, when the span starts before the last one ended, or when
    /// the wait exceeds 61 bits: begin a new batch then.
    #[must_use]
    pub fn encode(&mut self, span: &Span, buf: &mut [u8], mut at: usize) -> Option<usize> {
        let wait = span.start_ns.checked_sub(self.end_ns).filter(|w| *w < 1 << 61)?;
        let step = i64::from(span.node) - self.last_node - 1;
        let fused = span.last_node.checked_sub(span.node)?;
        let code = match (step, fused) {
            _ if span.cpu != self.cpu || span.migrated => EXPLICIT,
            (0..=3, 0) => step.cast_unsigned(),
            (0..=1, 1) => 4 + step.cast_unsigned(),
            _ => EXPLICIT,
        };
        at = put(buf, at, wait << 3 | code)?;
        if code == EXPLICIT {
            let cpu = span.cpu != self.cpu;
            let flags = if fused > 0 { FUSED } else { 0 }
                | if cpu { CPU } else { 0 }
                | if span.migrated { MIGRATED } else { 0 };
            at = put(buf, at, flags)?;
            at = put(buf, at, zigzag(step))?;
            if fused > 0 {
                at = put(buf, at, u64::from(fused))?;
            }
            if cpu {
                at = put(buf, at, u64::from(span.cpu))?;
            }
        }
        at = put(buf, at, span.work_ns)?;
        self.advance(span);
        Some(at)
    }

    /// Reads one span from the front of `buf`; `None` when the bytes are not a valid span.
    #[must_use]
    pub fn decode(&mut self, buf: &mut &[u8]) -> Option<Span> {
        let head = take(buf)?;
        let (code, wait) = (head & 7, head >> 3);
        let mut cpu = self.cpu;
        let mut migrated = false;
        let (step, fused) = match code {
            0..=3 => (code.cast_signed(), 0),
            4..=5 => (code.cast_signed() - 4, 1),
            EXPLICIT => {
                let flags = take(buf)?;
                if flags & !(FUSED | CPU | MIGRATED) != 0 {
                    return None;
                }
                migrated = flags & MIGRATED != 0;
                let step = unzigzag(take(buf)?);
                let fused = if flags & FUSED != 0 { take(buf)? } else { 0 };
                if flags & CPU != 0 {
                    cpu = u16::try_from(take(buf)?).ok()?;
                }
                (step, fused)
            }
            _ => return None,
        };
        let node = u32::try_from(self.last_node.checked_add(step)?.checked_add(1)?).ok()?;
        let span = Span {
            node,
            last_node: node.checked_add(u32::try_from(fused).ok()?)?,
            start_ns: self.end_ns.checked_add(wait)?,
            work_ns: take(buf)?,
            cpu,
            migrated,
        };
        span.start_ns.checked_add(span.work_ns)?;
        self.advance(&span);
        Some(span)
    }
}

impl Decode<'_> for Cursor {
    type Item = Span;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<Span> {
        Self::decode(self, buf)
    }
}

/// The spans of a batch.
pub type Spans<'a> = Batch<'a, Cursor>;

impl<'a> Spans<'a> {
    /// The spans of one batch, see [`crate::record::op::SpanBatch`].
    #[must_use]
    pub const fn new(base_ns: u64, cpu: u16, count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Cursor::new(base_ns, cpu), count, bytes)
    }
}
