//! Where operators can be recorded without a trap, and why it is safe there.

mod entered;
pub(crate) mod find;
mod moved;
pub(crate) mod places;
mod whole;
