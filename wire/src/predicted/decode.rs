//! Decodes the spans of a batch.

use super::{Expected, Memory, State, flag, order};
use crate::bits::Reader;
use crate::counts::{Counted, SLOTS};
use crate::span::Span;
use crate::usual::{Cold, take, take_or_escape};
use crate::varint::unzigzag;

/// The spans of a batch. Ends early and sets `failed` when the bits are not valid.
#[derive(Debug)]
pub struct Predicted<'a, 'm> {
    from: Reader<'a>,
    memory: Memory<'m>,
    state: State,
    left: u16,
    /// The bits ended or became invalid before the announced number of spans.
    pub failed: bool,
    /// Counter values of the last span; empty in a batch without counters.
    pub counted: Counted,
}

impl<'a, 'm> Predicted<'a, 'm> {
    /// The spans of a batch. The batch learns in `memory`, which is cleared first.
    #[must_use]
    pub fn new(base_ns: u64, cpu: u16, count: u16, bytes: &'a [u8], mut memory: Memory<'m>) -> Self {
        memory.forget();
        let state = State::new(base_ns, cpu, memory.usually.len());
        Self {
            from: Reader::new(bytes),
            memory,
            state,
            left: count,
            failed: false,
            counted: Counted::default(),
        }
    }

    /// The spans of a batch with period 0, or with a period that needs more memory than there is.
    /// It fails at once.
    #[must_use]
    pub fn none(count: u16) -> Self {
        let memory = Memory { usually: &mut [], counts: &mut [] };
        let mut none = Self::new(0, 0, 0, &[], memory);
        none.failed = count > 0;
        none
    }

    #[inline]
    fn take(&mut self) -> Option<Span> {
        self.from.fill();
        if let Some(e) = self.state.expected(&self.memory) {
            let usual = &mut self.memory.usually.get_mut(e.place)?.wait;
            if let Some(wait) = take_or_escape(usual, &mut self.from)? {
                let as_before = Extras { cpu: self.state.cpu, mask: self.state.mask, ..Extras::default() };
                return self.rest(e, wait, as_before);
            }
        }
        self.surprise()
    }

    #[cold]
    fn surprise(&mut self) -> Option<Span> {
        let (from, memory) = (&mut self.from, &mut self.memory);
        let mut extras = Extras { cpu: self.state.cpu, mask: self.state.mask, ..Extras::default() };
        let flags = from.take(flag::BITS)?;
        if flags & flag::COUNTS != 0 && memory.counts.is_empty() {
            return None;
        }
        extras.migrated = flags & flag::MIGRATED != 0;
        let step = unzigzag(from.number(order::STEP)?);
        let node = u32::try_from(self.state.next_node.checked_add_signed(step)?).ok()?;
        let fused = if flags & flag::FUSED != 0 { from.number(order::FUSED)? } else { 0 };
        if flags & flag::CPU != 0 {
            extras.cpu = u16::try_from(from.number(order::CPU)?).ok()?;
        }
        if flags & flag::COUNTS != 0 {
            extras.mask = from.take(SLOTS as u32)?;
            extras.switches = u32::try_from(from.number(order::SWITCHES)?).ok()?;
            extras.why = from.number(order::WHY)?;
        }
        let node = u64::from(node);
        let place = State::place_of(node, memory.usually.len());
        let known = memory.usually.get_mut(place)?;
        let wait = take(&mut known.wait, &mut self.state.cold[0], from)?;
        self.rest(Expected { node, last_node: node.checked_add(fused)?, place }, wait, extras)
    }

    /// Reads the fields after the wait.
    #[inline]
    fn rest(&mut self, at: Expected, wait: u64, extras: Extras) -> Option<Span> {
        let memory = &mut self.memory;
        let last_node = u32::try_from(at.last_node).ok()?;
        let known = memory.usually.get_mut(at.place)?;
        let work_ns = take(&mut known.work, &mut self.state.cold[1], &mut self.from)?;
        let start_ns = self.state.end_ns.checked_add(wait)?;
        let end_ns = start_ns.checked_add(work_ns)?;
        if let Some(usual) = memory.counts.get_mut(at.place) {
            let values = values(extras.mask, usual, &mut self.state.cold[2..], &mut self.from)?;
            self.counted = Counted { values, switches: extras.switches, why: extras.why };
            self.state.mask = extras.mask;
        }
        self.state.advance(at, memory);
        self.state.end_ns = end_ns;
        self.state.cpu = extras.cpu;
        // It is at most the last node.
        let node = at.node as u32;
        Some(Span { node, last_node, start_ns, work_ns, cpu: extras.cpu, migrated: extras.migrated })
    }
}

/// Fields of a surprise besides its nodes.
#[derive(Clone, Copy, Default)]
struct Extras {
    cpu: u16,
    migrated: bool,
    mask: u64,
    switches: u32,
    why: u64,
}

fn values(
    mask: u64,
    usual: &mut super::UsualCounts,
    cold: &mut [Cold],
    from: &mut Reader<'_>,
) -> Option<[Option<u64>; SLOTS]> {
    let mut values = [None; SLOTS];
    for (k, ((usual, cold), value)) in usual.iter_mut().zip(cold).zip(&mut values).enumerate() {
        if mask >> k & 1 != 0 {
            from.fill();
            *value = Some(take(usual, cold, from)?);
        }
    }
    Some(values)
}

impl Iterator for Predicted<'_, '_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let span = self.take();
        if span.is_none() {
            self.failed = true;
            self.left = 0;
        }
        span
    }
}
