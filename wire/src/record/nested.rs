//! Nested calls: calls of a backend function inside an operator, for example CLBlast's products
//! inside the CPU's operators.

use serde::{Deserialize, Serialize};

use super::totals::totals;
use crate::batch::{Batch, Each, Packed, take_postcard};

/// Nested calls of one graph call, of all threads, in the order in which they returned. Several
/// batches may belong to one call. A batch may come before the [`super::graph::GraphCall`] that its
/// `graph` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedBatch<'a> {
    /// Number of the graph call.
    pub graph: u32,
    /// Topology of that call; the node indices of the nested calls refer to it.
    pub topology: u32,
    /// Start of the graph call, ns.
    pub base_ns: u64,
    /// Number of calls.
    pub count: u16,
    /// That many [`NestedCall`]s, postcard-encoded one after the other; see [`NestedBatch::iter`].
    pub bytes: &'a [u8],
}

/// One call of a backend function inside an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedCall {
    /// Thread.
    pub tid: u32,
    /// Text id of the function's symbol.
    pub function: u32,
    /// Text id of the backend's name.
    pub backend: u32,
    /// Index of the operator's node in the topology: the operator that the thread runs, otherwise
    /// the tensor that the function was given.
    pub node: u32,
    /// Number of backend functions that the thread was already in.
    pub depth: u8,
    /// Start, ns from the start of the graph call.
    pub start_ns: u64,
    /// Length, ns.
    pub duration_ns: u64,
}

/// Longest encoding of one [`NestedCall`] in bytes: five varints of 32 bits, one byte less, and two
/// of 64 bits.
pub const MAX_NESTED_CALL_LEN: usize = 4 * 5 + 1 + 2 * 10;

impl Packed for NestedCall {
    fn unpack(buf: &mut &[u8]) -> Option<Self> {
        take_postcard(buf)
    }
}

impl<'a> NestedBatch<'a> {
    /// Decodes the calls.
    #[must_use]
    pub const fn iter(&self) -> Batch<'a, Each<NestedCall>> {
        Batch::<Each<NestedCall>>::new(self.count, self.bytes)
    }
}

totals! {
    /// Totals of the nested calls since the session began. Sent together with [`super::loss::Loss`]
    /// once such a function is probed. `ends = sent + ring_full + queue_full + no_start + no_graph`
    /// always holds in the last record of a session.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct NestedLoss {
        /// When, ns.
        pub at_ns: u64,
        /// Entries seen.
        pub starts: u64,
        /// Returns seen.
        pub ends: u64,
        /// Sent in batches.
        pub sent: u64,
        /// Lost because the kernel's ring buffer was full.
        pub ring_full: u64,
        /// Lost because the queue to the link was full.
        pub queue_full: u64,
        /// Returned without an entry, or in a graph call whose start was not seen.
        pub no_start: u64,
        /// Entered and never seen to return.
        pub no_end: u64,
        /// Calls whose tensor belongs to no known topology.
        pub no_graph: u64,
    }
}
