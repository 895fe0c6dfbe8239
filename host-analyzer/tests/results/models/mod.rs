//! Models for tests: one small enough to compute every figure by hand, and one made as an engine would.

pub(crate) mod small;
pub(crate) mod synthetic;
