//! Experts of mixture-of-experts models: the selections of the routers.

use serde::{Deserialize, Serialize};

use super::totals::totals;
use crate::experts::Runs;

/// Selections of the routers in one graph call. Several batches may belong to one call, and one
/// selection may be in several batches. A batch may come before the [`super::graph::GraphCall`]
/// that its `graph` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpertBatch<'a> {
    /// Number of the graph call.
    pub graph: u32,
    /// Topology of that call; the runs' node indices count in it.
    pub topology: u32,
    /// Number of runs.
    pub count: u16,
    /// The runs, see [`crate::experts`].
    pub bytes: &'a [u8],
}

impl<'a> ExpertBatch<'a> {
    /// Decodes the runs.
    #[must_use]
    pub const fn runs(&self) -> Runs<'a> {
        Runs::new(self.count, self.bytes)
    }
}

totals! {
    /// Totals of selected experts since the session began: one per token, layer and rank. The last
    /// record received is valid.
    ///
    /// `chosen = sent + ring_full + queue_full + unreadable + no_graph` holds in every record taken
    /// while no expert is between kernel and queue, and always in the last one, which comes before
    /// [`super::loss::End`]. Absent in a session that met no `MUL_MAT_ID` or did not request
    /// experts.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ExpertLoss {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Experts that routers selected, counted from the tensors of ids.
        pub chosen: u64,
        /// Handed to the link.
        pub sent: u64,
        /// Lost because the kernel's ring buffer was full.
        pub ring_full: u64,
        /// Lost because the link was too slow and its queue full.
        pub queue_full: u64,
        /// Not read: the memory could not be read, or did not hold a valid expert number.
        pub unreadable: u64,
        /// In a node that belongs to no known topology.
        pub no_graph: u64,
    }
}
