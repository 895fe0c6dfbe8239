//! Encodes the spans of a batch.

use super::{Expected, Memory, State, flag, order};
use crate::bits::Writer;
use crate::counts::Counted;
use crate::predicted::{MAX_COUNTED_SPAN_LEN, MAX_SPAN_LEN};
use crate::span::Span;
use crate::usual::{put, put_or_escape};
use crate::varint::zigzag;

/// Encodes one span at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoder {
    state: State,
    to: Writer,
}

impl Encoder {
    /// The state before the first span of a batch with this base time and CPU. `memory` must be
    /// cleared.
    #[must_use]
    pub fn new(base_ns: u64, cpu: u16, memory: &Memory<'_>) -> Self {
        Self { state: State::new(base_ns, cpu, memory.usually.len()), to: Writer::default() }
    }

    /// Bytes so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.to.len()
    }

    /// Nothing was written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// Appends `span`, with its counter values if `memory` has space for counts. False, with
    /// nothing changed, when there is no space for the longest span or when the span starts before
    /// the last one ended: begin a new batch then.
    #[must_use]
    pub fn encode(
        &mut self,
        span: &Span,
        counted: &Counted,
        memory: &mut Memory<'_>,
        buf: &mut [u8],
    ) -> bool {
        let counts = !memory.counts.is_empty();
        let longest = if counts { MAX_COUNTED_SPAN_LEN } else { MAX_SPAN_LEN };
        let Some(wait) = span.start_ns.checked_sub(self.state.end_ns) else { return false };
        let Some(end_ns) = span.start_ns.checked_add(span.work_ns) else { return false };
        if span.last_node < span.node || self.to.len() + longest > buf.len() {
            return false;
        }
        let (node, last_node) = (u64::from(span.node), u64::from(span.last_node));
        let mask = if counts { mask(counted) } else { 0 };
        let odd = counts && (mask != self.state.mask || counted.switches != 0 || counted.why != 0);
        let plain = span.cpu == self.state.cpu && !span.migrated && !odd;
        let period = memory.usually.len();
        let expected = self.state.expected(memory);
        let place = match &expected {
            Some(e) if plain && e.node == node && e.last_node == last_node => {
                put_or_escape(wait, &mut memory.usually[e.place].wait, &mut self.to, buf);
                e.place
            }
            _ => {
                if expected.is_some() {
                    self.to.escape(buf);
                }
                self.surprise(span, counted, odd.then_some(mask), buf);
                let place = State::place_of(node, period);
                put(wait, &mut memory.usually[place].wait, &mut self.state.cold[0], &mut self.to, buf);
                place
            }
        };
        put(span.work_ns, &mut memory.usually[place].work, &mut self.state.cold[1], &mut self.to, buf);
        if counts {
            let slots = memory.counts[place].iter_mut().zip(&mut self.state.cold[2..]);
            for ((usual, cold), value) in slots.zip(&counted.values) {
                if let Some(value) = value {
                    put(*value, usual, cold, &mut self.to, buf);
                }
            }
            self.state.mask = mask;
        }
        self.state.advance(Expected { node, last_node, place }, memory);
        self.state.end_ns = end_ns;
        self.state.cpu = span.cpu;
        true
    }

    fn surprise(&mut self, span: &Span, counted: &Counted, mask: Option<u64>, buf: &mut [u8]) {
        let (to, fused) = (&mut self.to, u64::from(span.last_node - span.node));
        let cpu = span.cpu != self.state.cpu;
        let flags = if fused > 0 { flag::FUSED } else { 0 }
            | if cpu { flag::CPU } else { 0 }
            | if span.migrated { flag::MIGRATED } else { 0 }
            | if mask.is_some() { flag::COUNTS } else { 0 };
        to.put(flags, flag::BITS, buf);
        to.number(zigzag(i64::from(span.node) - self.state.next_node.cast_signed()), order::STEP, buf);
        if fused > 0 {
            to.number(fused, order::FUSED, buf);
        }
        if cpu {
            to.number(span.cpu.into(), order::CPU, buf);
        }
        if let Some(mask) = mask {
            to.put(mask, crate::counts::SLOTS as u32, buf);
            to.number(counted.switches.into(), order::SWITCHES, buf);
            to.number(counted.why, order::WHY, buf);
        }
    }

    /// Ends the batch; returns its length in bytes.
    pub fn finish(&mut self, buf: &mut [u8]) -> usize {
        self.to.finish(buf)
    }
}

/// A bit for each slot that has a value.
fn mask(counted: &Counted) -> u64 {
    (0..).zip(&counted.values).fold(0, |mask, (k, v)| mask | u64::from(v.is_some()) << k)
}
