//! A topology that was put together: which tensor lies where.

/// Nodes that are looked at before the search by address: an attention layer has up to seven views in a row.
const AHEAD: usize = 8;

/// A topology that spans may refer to.
#[derive(Debug)]
pub struct Known {
    /// Process.
    pub(super) pid: u32,
    /// Its number on the wire.
    pub wire_id: u32,
    /// Number of nodes after which it repeats, see [`profinfer_wire::predicted::period`].
    pub period: u16,
    /// Address and index of every tensor, by index for the nodes.
    addresses: Vec<u64>,
    /// The same by address.
    by_address: Vec<(u64, u32)>,
    /// By node: filters leave it out. Empty where they leave out none.
    left_out: Vec<bool>,
}

impl Known {
    /// Of tensors at these addresses, nodes first.
    pub(super) fn new(pid: u32, addresses: Vec<u64>) -> Self {
        let mut by_address: Vec<(u64, u32)> = addresses.iter().copied().zip(0..).collect();
        by_address.sort_unstable();
        Self { pid, wire_id: 0, period: 1, addresses, by_address, left_out: Vec::new() }
    }

    /// Learns which nodes filters leave out.
    pub(super) fn leave_out(&mut self, left_out: Vec<bool>) {
        self.left_out = left_out;
    }

    /// Whether filters let the span from `node` to `last` pass: one of several passes with all that its kernel computed.
    #[must_use]
    pub fn passes(&self, node: u32, last: u32) -> bool {
        self.left_out.is_empty()
            || (node..=last).any(|i| !self.left_out.get(i as usize).copied().unwrap_or(false))
    }

    /// Index of the node at `address`. Threads run nodes in order, so it is looked for from `hint` on, past the views that
    /// no thread runs.
    #[must_use]
    pub fn index(&self, address: u64, hint: u32) -> Option<u32> {
        let ahead = self.addresses.get(hint as usize..).unwrap_or_default();
        let found = ahead.iter().take(AHEAD).position(|a| *a == address);
        found.and_then(|n| hint.checked_add(u32::try_from(n).ok()?)).or_else(|| self.by_address(address))
    }

    /// Index of the tensor at `address`.
    pub(super) fn by_address(&self, address: u64) -> Option<u32> {
        let at = self.by_address.binary_search_by_key(&address, |(a, _)| *a).ok()?;
        Some(self.by_address[at].1)
    }

    /// Number of tensors.
    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }
}
