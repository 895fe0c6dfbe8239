//! Codes the experts that a router selected.
//!
//! ```text
//! run = node:varint (zigzag difference to the node of the run before; 0 before the first)
//!       n_used:varint  first:varint  count:varint  expert:varint × count
//! ```
//! The selection for one batch is a table with one row per token and `n_used` experts per row, best
//! first. A run is a part of that table, read row by row from position `first` on: position `p` is
//! rank `p % n_used` of token `p / n_used`. A decode token's selection is one run of `n_used`
//! experts; a prompt's selection has many rows.

use crate::batch::{Batch, Decode};
use crate::varint::{put, take, unzigzag, zigzag};

/// In place of an expert: the engine skips this product (id −1, llama.cpp 0.8.0 and later).
pub const SKIPPED: u32 = u32::MAX;

/// A part of the selection that one `MUL_MAT_ID` uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run<'a> {
    /// Index in the topology of the first `MUL_MAT_ID` that uses this selection. Later ones with
    /// the same ids share it.
    pub node: u32,
    /// Experts per token, never 0.
    pub n_used: u32,
    /// Position of the first expert.
    pub first: u32,
    /// Number of experts.
    pub count: u32,
    /// The packed experts; valid when they came from [`Runs`].
    bytes: &'a [u8],
}

impl Run<'_> {
    /// The experts with their token and rank in it.
    pub fn experts(&self) -> impl Iterator<Item = Expert> + '_ {
        let (mut bytes, n_used) = (self.bytes, self.n_used.max(1));
        (self.first..self.first.saturating_add(self.count)).map_while(move |position| {
            let expert = u32::try_from(take(&mut bytes)?).ok()?;
            Some(Expert { token: position / n_used, rank: position % n_used, expert })
        })
    }
}

/// One expert of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expert {
    /// Token, from 0 in its batch.
    pub token: u32,
    /// Rank in the router's order, from 0.
    pub rank: u32,
    /// Number of the expert in its layer, or [`SKIPPED`].
    pub expert: u32,
}

/// The state that one run is coded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    node: u32,
}

impl Cursor {
    /// Appends a run to `buf` at `at`; returns the next free position. `None`, with the cursor
    /// unchanged, when there is no space.
    #[must_use]
    pub fn encode(
        &mut self,
        node: u32,
        n_used: u32,
        first: u32,
        experts: &[u32],
        buf: &mut [u8],
        mut at: usize,
    ) -> Option<usize> {
        at = put(buf, at, zigzag(i64::from(node) - i64::from(self.node)))?;
        at = put(buf, at, n_used.into())?;
        at = put(buf, at, first.into())?;
        at = put(buf, at, experts.len() as u64)?;
        for expert in experts {
            at = put(buf, at, u64::from(*expert))?;
        }
        self.node = node;
        Some(at)
    }

    /// Reads one from the front of `buf`; `None` when the bytes are not a valid run.
    #[must_use]
    pub fn decode<'a>(&mut self, buf: &mut &'a [u8]) -> Option<Run<'a>> {
        let node = i64::from(self.node).checked_add(unzigzag(take(buf)?))?;
        let node = u32::try_from(node).ok()?;
        let n_used = u32::try_from(take(buf)?).ok().filter(|n| *n > 0)?;
        let first = u32::try_from(take(buf)?).ok()?;
        let count = u32::try_from(take(buf)?).ok()?;
        first.checked_add(count)?;
        let bytes = *buf;
        for _ in 0..count {
            u32::try_from(take(buf)?).ok()?;
        }
        self.node = node;
        let used = bytes.len() - buf.len();
        Some(Run { node, n_used, first, count, bytes: bytes.get(..used)? })
    }
}

impl<'a> Decode<'a> for Cursor {
    type Item = Run<'a>;

    fn decode(&mut self, buf: &mut &'a [u8]) -> Option<Run<'a>> {
        Self::decode(self, buf)
    }
}

/// The runs of a batch.
pub type Runs<'a> = Batch<'a, Cursor>;

impl<'a> Runs<'a> {
    /// The runs of one batch, see [`crate::record::expert::ExpertBatch`].
    #[must_use]
    pub const fn new(count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Cursor { node: 0 }, count, bytes)
    }
}
