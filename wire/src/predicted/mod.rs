//! Codes the operator spans of one thread in one graph call. A span costs only its difference from
//! the expected one: about three bytes.
//!
//! A model is a stack of layers, so the nodes of its graph repeat with a period. A batch of a few
//! hundred spans has seen every kind of node many times. Writer and reader keep the usual values by
//! the node's index modulo the period: the next node, the wait, the work, the counter values. Both
//! learn them within the batch. A batch therefore needs no other record, and a lost frame costs
//! only its own spans.
//!
//! ```text
//! span      = [surprise] [wait] work count …         bits, see [`crate::bits`] and [`crate::usual`]
//! surprise  = escape flags step [fused] [cpu] [mask switches why]
//! ```
//! `docs/wire-format.md` has the details. Every span can be coded after any other.

mod decode;
mod encode;
mod period;

pub use decode::Predicted;
pub use encode::Encoder;
pub use period::period;

use crate::bits::MAX_NUMBER_BITS;
use crate::counts::SLOTS;
use crate::usual::{Cold, Usual};

/// Longest period, in nodes. A layer of current models has 30 to 120 nodes. Some models repeat only
/// after four different layers.
pub const MAX_PERIOD: u16 = 512;

/// Longest encoding of one span in bytes, pending bits included.
pub const MAX_SPAN_LEN: usize = (5 * MAX_NUMBER_BITS + 32 + 31).div_ceil(8);
/// The same with its counts.
pub const MAX_COUNTED_SPAN_LEN: usize = MAX_SPAN_LEN + ((SLOTS + 2) * MAX_NUMBER_BITS + SLOTS).div_ceil(8);

/// The usual values of the nodes with one remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usually {
    /// The number of nodes that the next span skips, and of nodes that it covers besides its first.
    next: (u16, u16),
    wait: Usual,
    work: Usual,
}

/// No next span was seen.
const UNSEEN: (u16, u16) = (u16::MAX, u16::MAX);

/// Nothing is known.
pub const UNKNOWN: Usually = Usually { next: UNSEEN, wait: Usual::UNKNOWN, work: Usual::UNKNOWN };

/// Usual counter values of the nodes with one remainder, by slot.
pub type UsualCounts = [Usual; SLOTS];

/// Nothing is known.
pub const UNKNOWN_COUNTS: UsualCounts = [Usual::UNKNOWN; SLOTS];

/// The memory in which a batch learns, with one entry per node of the period. The counts are empty
/// without counters.
#[derive(Debug)]
pub struct Memory<'m> {
    usually: &'m mut [Usually],
    counts: &'m mut [UsualCounts],
}

impl<'m> Memory<'m> {
    /// Memory for a batch. Keep what another batch has learnt there for that batch only, or clear
    /// it with [`Memory::forget`]. `None` when the slice is empty or longer than [`MAX_PERIOD`], or
    /// when the counts have another length.
    #[must_use]
    pub fn new(usually: &'m mut [Usually], counts: &'m mut [UsualCounts]) -> Option<Self> {
        let period = usually.len();
        let fits =
            (1..=usize::from(MAX_PERIOD)).contains(&period) && (counts.is_empty() || counts.len() == period);
        fits.then_some(Self { usually, counts })
    }

    /// Clears the memory for the next batch.
    pub fn forget(&mut self) {
        self.usually.fill(UNKNOWN);
        self.counts.fill(UNKNOWN_COUNTS);
    }
}

/// Flags of a surprise.
mod flag {
    /// It covers more nodes than its first.
    pub(super) const FUSED: u64 = 1;
    /// Its CPU follows.
    pub(super) const CPU: u64 = 2;
    /// It ended on another CPU than it began on.
    pub(super) const MIGRATED: u64 = 4;
    /// Its counter values follow, with the number of switches and the reasons for absent counts.
    pub(super) const COUNTS: u64 = 8;
    /// How many bits there are.
    pub(super) const BITS: u32 = 4;
}

/// Orders of the codes of a surprise's numbers.
mod order {
    pub(super) const STEP: u32 = 2;
    pub(super) const FUSED: u32 = 0;
    pub(super) const CPU: u32 = 3;
    pub(super) const SWITCHES: u32 = 1;
    pub(super) const WHY: u32 = 1;
}

/// The state that writer and reader share before the next span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    /// The node after the last one covered; may be one more than any node.
    next_node: u64,
    /// Remainder of the last node covered; the period's last before the first.
    place: usize,
    end_ns: u64,
    cpu: u16,
    /// The slots that have a value in the last span.
    mask: u64,
    cold: [Cold; 2 + SLOTS],
}

/// The nodes of the next span, if it is as expected.
#[derive(Clone, Copy)]
struct Expected {
    node: u64,
    last_node: u64,
    place: usize,
}

impl State {
    fn new(base_ns: u64, cpu: u16, period: usize) -> Self {
        let place = period.saturating_sub(1);
        Self { next_node: 0, place, end_ns: base_ns, cpu, mask: 0, cold: [Cold::default(); 2 + SLOTS] }
    }

    /// The expected next span; `None` if no next span or no wait was seen yet.
    #[inline]
    fn expected(&self, memory: &Memory<'_>) -> Option<Expected> {
        let (step, fused) = memory.usually.get(self.place)?.next;
        if (step, fused) == UNSEEN {
            return None;
        }
        let period = memory.usually.len();
        let mut place = self.place + usize::from(step) + 1;
        if place >= period {
            place -= period;
            if place >= period {
                place %= period;
            }
        }
        let node = self.next_node + u64::from(step);
        let expected = Expected { node, last_node: node + u64::from(fused), place };
        memory.usually.get(place).is_some_and(|u| u.wait.known()).then_some(expected)
    }

    /// Learns the nodes of a span and continues after them.
    #[inline]
    fn advance(&mut self, at: Expected, memory: &mut Memory<'_>) {
        let step = u16::try_from(at.node.wrapping_sub(self.next_node));
        let fused = u16::try_from(at.last_node - at.node);
        if let Some(before) = memory.usually.get_mut(self.place) {
            before.next = step.ok().zip(fused.ok()).unwrap_or(UNSEEN);
        }
        self.place = match at.last_node == at.node {
            true => at.place,
            false => {
                let near = usize::try_from(at.last_node - at.node).ok().and_then(|n| at.place.checked_add(n));
                let near = near.filter(|place| *place < memory.usually.len());
                near.unwrap_or_else(|| Self::place_of(at.last_node, memory.usually.len()))
            }
        };
        self.next_node = at.last_node + 1;
    }

    /// The place of any node.
    fn place_of(node: u64, period: usize) -> usize {
        usize::try_from(node).map_or(0, |n| n % period.max(1))
    }
}
