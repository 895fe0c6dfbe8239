//! Reads the spans of a batch.

use super::{Memory, State, flag, order};
use crate::bits::Reader;
use crate::counts::{Counted, SLOTS};
use crate::span::Span;
use crate::usual::{Cold, take, take_or_escape};
use crate::varint::unzigzag;

/// The spans of a batch one after the other; ends early, with `failed` set, where the bits are not such.
#[derive(Debug)]
pub struct Predicted<'a, 'm> {
    from: Reader<'a>,
    memory: Memory<'m>,
    state: State,
    left: u16,
    /// The bits ended, or stopped making sense, before the announced number of spans.
    pub failed: bool,
    /// What the last span counted; nothing in a batch without counts.
    pub counted: Counted,
}

impl<'a, 'm> Predicted<'a, 'm> {
    /// The spans of a batch, which learns in `memory`. That is forgotten first.
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

    /// The spans of a batch whose period is none, or needs more memory than there is: it fails at once.
    #[must_use]
    pub fn none(count: u16) -> Self {
        let memory = Memory { usually: &mut [], counts: &mut [] };
        let mut none = Self::new(0, 0, 0, &[], memory);
        none.failed = count > 0;
        none
    }

    fn take(&mut self) -> Option<Span> {
        let (from, memory) = (&mut self.from, &mut self.memory);
        let counts = !memory.counts.is_empty();
        let usual = match self.state.expected(memory) {
            Some(e) => take_or_escape(&mut memory.usually[e.place].wait, from)?.map(|wait| (e, wait)),
            None => None,
        };
        let (mut cpu, mut migrated, mut mask) = (self.state.cpu, false, self.state.mask);
        let (mut switches, mut why) = (0, 0);
        let (node, last_node, place, wait) = match usual {
            Some((e, wait)) => (e.node, e.last_node, e.place, wait),
            None => {
                let flags = from.take(flag::BITS)?;
                if flags & flag::COUNTS != 0 && !counts {
                    return None;
                }
                migrated = flags & flag::MIGRATED != 0;
                let step = unzigzag(from.number(order::STEP)?);
                let node = self.state.last_node.checked_add(step)?.checked_add(1)?;
                let node = i64::from(u32::try_from(node).ok()?);
                let fused = if flags & flag::FUSED != 0 { from.number(order::FUSED)? } else { 0 };
                if flags & flag::CPU != 0 {
                    cpu = u16::try_from(from.number(order::CPU)?).ok()?;
                }
                if flags & flag::COUNTS != 0 {
                    mask = from.take(SLOTS as u32)?;
                    switches = u32::try_from(from.number(order::SWITCHES)?).ok()?;
                    why = from.number(order::WHY)?;
                }
                let place = State::place_of(node, memory.usually.len());
                let known = memory.usually.get_mut(place)?;
                let wait = take(&mut known.wait, &mut self.state.cold[0], from)?;
                (node, node.checked_add(i64::try_from(fused).ok()?)?, place, wait)
            }
        };
        let known = memory.usually.get_mut(place)?;
        let work_ns = take(&mut known.work, &mut self.state.cold[1], from)?;
        let start_ns = self.state.end_ns.checked_add(wait)?;
        let span = Span {
            node: u32::try_from(node).ok()?,
            last_node: u32::try_from(last_node).ok()?,
            start_ns,
            work_ns,
            cpu,
            migrated,
        };
        let end_ns = start_ns.checked_add(work_ns)?;
        if let Some(usual) = memory.counts.get_mut(place) {
            let values = values(mask, usual, &mut self.state.cold[2..], from)?;
            self.counted = Counted { values, switches, why };
            self.state.mask = mask;
        }
        self.state.advance(node, last_node, place, memory);
        self.state.end_ns = end_ns;
        self.state.cpu = cpu;
        Some(span)
    }
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
            *value = Some(take(usual, cold, from)?);
        }
    }
    Some(values)
}

impl Iterator for Predicted<'_, '_> {
    type Item = Span;

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
