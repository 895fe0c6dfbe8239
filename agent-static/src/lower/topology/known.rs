//! A complete topology: index of each tensor by address.

use std::rc::Rc;

/// Nodes that are compared before the search by address: an attention layer has up to seven views
/// in a row.
const AHEAD: usize = 8;

/// Addresses of the tensors of a topology. An engine builds its graphs at the same addresses, so
/// that those of all prompt lengths share a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// By index, nodes first.
    addresses: Vec<u64>,
    /// Indexes, sorted by address.
    sorted: Vec<u32>,
}

impl Table {
    /// From the addresses of the tensors, nodes first.
    pub(super) fn new(addresses: Vec<u64>) -> Self {
        let mut sorted: Vec<u32> = (0..).take(addresses.len()).collect();
        sorted.sort_unstable_by_key(|i| (addresses[*i as usize], *i));
        Self { addresses, sorted }
    }

    pub(super) fn by_address(&self, address: u64) -> Option<u32> {
        let at = self.sorted.binary_search_by_key(&address, |i| self.addresses[*i as usize]).ok()?;
        Some(self.sorted[at])
    }

    pub(super) const fn len(&self) -> usize {
        self.addresses.len()
    }
}

/// A topology that spans may refer to.
#[derive(Debug)]
pub struct Known {
    pub(super) pid: u32,
    /// Its id on the wire.
    pub wire_id: u32,
    /// Number of nodes after which it repeats, see [`profinfer_wire::predicted::period`].
    pub period: u16,
    pub(super) table: Rc<Table>,
    /// By node: filters exclude it. Empty if no node is excluded.
    pub(super) left_out: Vec<bool>,
}

impl Known {
    /// Whether filters keep the span from `node` to `last`: one kept node keeps all nodes that its
    /// kernel computed.
    #[must_use]
    pub fn passes(&self, node: u32, last: u32) -> bool {
        self.left_out.is_empty()
            || (node..=last).any(|i| !self.left_out.get(i as usize).copied().unwrap_or(false))
    }

    /// Index of the node at `address`. Threads run nodes in order, so the search starts at `hint`
    /// and skips views, which no thread runs.
    #[must_use]
    pub fn index(&self, address: u64, hint: u32) -> Option<u32> {
        let ahead = self.table.addresses.get(hint as usize..).unwrap_or_default();
        let found = ahead.iter().take(AHEAD).position(|a| *a == address);
        found
            .and_then(|n| hint.checked_add(u32::try_from(n).ok()?))
            .or_else(|| self.table.by_address(address))
    }
}
