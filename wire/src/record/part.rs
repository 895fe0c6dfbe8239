//! Parts of the batches of decode calls: sequences and positions.

use serde::{Deserialize, Serialize};

use super::totals::totals;
use crate::parts::Parts;

/// Parts of the batch of one decode call. Several records may belong to one call, and come before
/// its [`super::token::Decode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartBatch<'a> {
    /// Number of the decode call.
    pub decode: u32,
    /// Number of parts.
    pub count: u16,
    /// The parts, see [`crate::parts`].
    pub bytes: &'a [u8],
}

impl<'a> PartBatch<'a> {
    /// Decodes the parts.
    #[must_use]
    pub const fn parts(&self) -> Parts<'a> {
        Parts::new(self.count, self.bytes)
    }
}

totals! {
    /// Totals of tokens in the batches of decode calls since the session began. The last record
    /// received is valid.
    ///
    /// `tokens = sent + ring_full + queue_full + unreadable + left_out + no_call` holds in every
    /// record taken while no batch is between kernel and queue, and always in the last one, which
    /// comes before [`super::loss::End`]. Absent in a session without a batch that can be read.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct PartLoss {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Tokens in batches, as the batches state them.
        pub tokens: u64,
        /// Tokens of parts that were handed to the link.
        pub sent: u64,
        /// Lost because the kernel's ring buffer was full.
        pub ring_full: u64,
        /// Lost because the link was too slow and its queue full.
        pub queue_full: u64,
        /// Not read: the memory with their sequence or position could not be read.
        pub unreadable: u64,
        /// Tokens beyond the limit of tokens or parts per batch.
        pub left_out: u64,
        /// Tokens of an unknown decode call.
        pub no_call: u64,
    }
}
