//! Where operators can be recorded without a trap, and why that is safe there.

pub(crate) mod places;
