//! A complete topology: index of each tensor by address.

/// Nodes that are compared before the search by address: an attention layer has up to seven views
/// in a row.
const AHEAD: usize = 8;

/// A topology that spans may refer to.
#[derive(Debug)]
pub struct Known {
    pub(super) pid: u32,
    /// Its id on the wire.
    pub wire_id: u32,
    /// Number of nodes after which it repeats, see [`profinfer_wire::predicted::period`].
    pub period: u16,
    /// Address of every tensor, by index, nodes first.
    addresses: Vec<u64>,
    /// Address and index, sorted by address.
    by_address: Vec<(u64, u32)>,
    /// By node: filters exclude it. Empty if no node is excluded.
    left_out: Vec<bool>,
}

impl Known {
    /// From the addresses of the tensors, nodes first.
    pub(super) fn new(pid: u32, addresses: Vec<u64>) -> Self {
        let mut by_address: Vec<(u64, u32)> = addresses.iter().copied().zip(0..).collect();
        by_address.sort_unstable();
        Self { pid, wire_id: 0, period: 1, addresses, by_address, left_out: Vec::new() }
    }

    /// Sets the nodes that filters exclude.
    pub(super) fn leave_out(&mut self, left_out: Vec<bool>) {
        self.left_out = left_out;
    }

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
        let ahead = self.addresses.get(hint as usize..).unwrap_or_default();
        let found = ahead.iter().take(AHEAD).position(|a| *a == address);
        found.and_then(|n| hint.checked_add(u32::try_from(n).ok()?)).or_else(|| self.by_address(address))
    }

    pub(super) fn by_address(&self, address: u64) -> Option<u32> {
        let at = self.by_address.binary_search_by_key(&address, |(a, _)| *a).ok()?;
        Some(self.by_address[at].1)
    }

    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }
}
