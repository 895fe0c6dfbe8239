//! Codes which buffer holds which weight.
//!
//! ```text
//! placement = step:varint buffer:varint
//! step      index in the topology minus that of the previous placement minus 1; in the first
//!           placement the index itself
//! ```

use crate::batch::{Batch, Decode};
use crate::varint::{put, take};

/// One weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Index in the topology.
    pub index: u32,
    /// Number of the buffer.
    pub buffer: u32,
}

/// Longest encoding of one placement in bytes.
pub const MAX_PLACEMENT_LEN: usize = 2 * crate::varint::MAX_LEN;

impl Placement {
    /// Appends to `buf` at `at`; returns the next free position. `None` when there is no space, or
    /// when the index is not after that of the placement `before`.
    #[must_use]
    pub fn encode(&self, before: Option<u32>, buf: &mut [u8], at: usize) -> Option<usize> {
        let step = match before {
            Some(before) => self.index.checked_sub(before)?.checked_sub(1)?,
            None => self.index,
        };
        let at = put(buf, at, step.into())?;
        put(buf, at, self.buffer.into())
    }
}

/// Decoder of placements; the first index counts from 0.
#[derive(Debug, Clone)]
pub struct Steps {
    next: u32,
}

impl Decode<'_> for Steps {
    type Item = Placement;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<Placement> {
        let step = u32::try_from(take(buf)?).ok()?;
        let index = self.next.checked_add(step)?;
        let buffer = u32::try_from(take(buf)?).ok()?;
        // An index of u32::MAX is beyond every topology: nothing follows it.
        self.next = index.checked_add(1)?;
        Some(Placement { index, buffer })
    }
}

/// The placements of a batch.
pub type Placements<'a> = Batch<'a, Steps>;

impl<'a> Placements<'a> {
    /// The placements of one batch.
    #[must_use]
    pub const fn new(count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Steps { next: 0 }, count, bytes)
    }
}
