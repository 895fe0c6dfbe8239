//! Models for tests: small enough to compute every figure by hand, with and without routers, and made as an engine would.

pub(crate) mod calls;
pub(crate) mod graph;
pub(crate) mod planted;
pub(crate) mod routed;
pub(crate) mod small;
pub(crate) mod synthetic;
