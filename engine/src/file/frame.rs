//! A function as the unwind tables know it.

/// What the unwind tables say of a function, or of one part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    /// Its first address.
    pub(super) start: u64,
    /// The address behind its last byte.
    pub(super) end: u64,
    /// Whether control may come to it by an exception.
    pub(super) landing_pads: bool,
}
