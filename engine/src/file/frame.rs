//! A function in the unwind tables.

/// An entry of the unwind tables: a function, or one part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    /// Its first address.
    pub(super) start: u64,
    /// The address after its last byte.
    pub(super) end: u64,
    /// Whether an exception may lead into it.
    pub(super) landing_pads: bool,
}
