//! A topology that was put together: which tensor lies where.

/// Nodes that are looked at before the search by address: an attention layer has up to seven views in a row.
const AHEAD: usize = 8;

/// A topology that spans may refer to.
#[derive(Debug)]
pub struct Known {
    /// Its number on the wire.
    pub wire_id: u32,
    /// Address and index of every tensor, by index for the nodes.
    addresses: Vec<u64>,
    /// The same by address.
    by_address: Vec<(u64, u32)>,
}

impl Known {
    /// Of tensors at these addresses, nodes first.
    pub(super) fn new(addresses: Vec<u64>) -> Self {
        let mut by_address: Vec<(u64, u32)> = addresses.iter().copied().zip(0..).collect();
        by_address.sort_unstable();
        Self { wire_id: 0, addresses, by_address }
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
