//! Codes the counter values of a span.
//!
//! ```text
//! counted = head:varint [switches:varint why:varint] value:varint …
//! head    = mask << 1 | more      mask: a bit for each slot that has a value, in order of slots
//! more    switches and why follow; without them both are 0
//! ```

use crate::batch::{Batch, Each, Packed};
use crate::varint::{put, take};

/// Most counters per session: a core's cycle counter, six others, and the software counters.
pub const SLOTS: usize = 10;

/// Counter values of one span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Values by slot; `None` where the counter was not read.
    pub values: [Option<u64>; SLOTS],
    /// How often the thread was switched out during the span.
    pub switches: u32,
    /// Why hardware counters are absent, bits of [`crate::record::counter::why`]; 0 when nothing
    /// went wrong.
    pub why: u64,
}

/// Longest encoding of one span's counts in bytes.
pub const MAX_COUNTED_LEN: usize = (SLOTS + 3) * crate::varint::MAX_LEN;

impl Counted {
    /// Appends to `buf` at `at`; returns the next free position, `None` when there is no space.
    #[must_use]
    pub fn encode(&self, buf: &mut [u8], mut at: usize) -> Option<usize> {
        let mask = (0..).zip(&self.values).filter(|(_, v)| v.is_some()).fold(0u64, |m, (k, _)| m | 1 << k);
        let more = self.switches != 0 || self.why != 0;
        at = put(buf, at, mask << 1 | u64::from(more))?;
        if more {
            at = put(buf, at, self.switches.into())?;
            at = put(buf, at, self.why)?;
        }
        for value in self.values.iter().flatten() {
            at = put(buf, at, *value)?;
        }
        Some(at)
    }

    /// Reads one from the front of `buf`; `None` when the bytes are not valid counts.
    #[must_use]
    pub fn decode(buf: &mut &[u8]) -> Option<Self> {
        let head = take(buf)?;
        let mut counted = Self::default();
        if head >> (SLOTS + 1) != 0 {
            return None;
        }
        if head & 1 != 0 {
            counted.switches = u32::try_from(take(buf)?).ok()?;
            counted.why = take(buf)?;
        }
        for (k, value) in (1..).zip(&mut counted.values) {
            if head >> k & 1 != 0 {
                *value = Some(take(buf)?);
            }
        }
        Some(counted)
    }
}

impl Packed for Counted {
    fn unpack(buf: &mut &[u8]) -> Option<Self> {
        Self::decode(buf)
    }
}

/// The counts of a batch.
pub type Counts<'a> = Batch<'a, Each<Counted>>;
