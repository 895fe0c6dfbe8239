//! Packs the operator spans of one thread in one graph call so that a span costs only its surprises: some three bytes.
//!
//! A model is a stack of layers, so the nodes of its graph repeat with a period, and a batch of a few hundred spans has seen
//! every kind of node many times. What is usual is kept by the node's index modulo the period: which node comes next, how long
//! the thread waits for it, how long it works, what it counts. All of it is learnt within the batch, by the writer and the
//! reader alike, so a batch needs no other record, and a frame that is lost costs nothing but its own spans.
//!
//! ```text
//! span      = [surprise] [wait] work count …         bits, see [`crate::bits`] and [`crate::usual`]
//! surprise  = escape flags step [fused] [cpu] [mask switches why]
//! ```
//! `docs/wire-format.md` has the details. Every span can be written, whatever came before it.

mod decode;
mod encode;
mod period;

pub use decode::Predicted;
pub use encode::Encoder;
pub use period::period;

use crate::bits::MAX_NUMBER_BITS;
use crate::counts::SLOTS;
use crate::usual::{Cold, Usual};

/// Longest period, in nodes. A layer of today's models has 30 to 120 nodes; some repeat after four different layers.
pub const MAX_PERIOD: u16 = 512;

/// Longest encoding of one span in bytes, with the bits that wait before it.
pub const MAX_SPAN_LEN: usize = (5 * MAX_NUMBER_BITS + 32 + 31).div_ceil(8);
/// The same with its counts.
pub const MAX_COUNTED_SPAN_LEN: usize = MAX_SPAN_LEN + ((SLOTS + 2) * MAX_NUMBER_BITS + SLOTS).div_ceil(8);

/// What is usual of the nodes with one remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usually {
    /// How many nodes the next span skips, and how many nodes it covers besides its first.
    next: (u16, u16),
    wait: Usual,
    work: Usual,
}

/// No next span was seen.
const UNSEEN: (u16, u16) = (u16::MAX, u16::MAX);

/// Nothing is known.
pub const UNKNOWN: Usually = Usually { next: UNSEEN, wait: Usual::UNKNOWN, work: Usual::UNKNOWN };

/// What the nodes with one remainder usually count, by slot.
pub type UsualCounts = [Usual; SLOTS];

/// Nothing is known.
pub const UNKNOWN_COUNTS: UsualCounts = [Usual::UNKNOWN; SLOTS];

/// The memory in which a batch learns, one of each for every node of the period; the counts are empty without counters.
#[derive(Debug)]
pub struct Memory<'m> {
    usually: &'m mut [Usually],
    counts: &'m mut [UsualCounts],
}

impl<'m> Memory<'m> {
    /// Memory for a batch; what another batch learnt there must be kept for that batch, or forgotten by [`Memory::forget`].
    /// `None` if there is none at all, or more than [`MAX_PERIOD`], or not as much for the counts.
    #[must_use]
    pub fn new(usually: &'m mut [Usually], counts: &'m mut [UsualCounts]) -> Option<Self> {
        let period = usually.len();
        let fits =
            (1..=usize::from(MAX_PERIOD)).contains(&period) && (counts.is_empty() || counts.len() == period);
        fits.then_some(Self { usually, counts })
    }

    /// Forgets all, for the next batch.
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
    /// What it counted, how often it lost its CPU and why counts are absent follow.
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

/// What the writer and the reader of a batch both know before the next span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    /// The node behind the last one covered; may be one more than any node.
    next_node: u64,
    /// Remainder of the last node covered; the period's last before the first.
    place: usize,
    end_ns: u64,
    cpu: u16,
    /// The slots that the last span counted.
    mask: u64,
    cold: [Cold; 2 + SLOTS],
}

/// The next span's nodes, if it is as usual.
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

    /// What usually follows; nothing if it was not seen yet, or not how long it takes.
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

    /// Learns which nodes came, and goes on behind them.
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
