//! Models for tests: small enough to compute every figure by hand, with and without routers,
//! similar to an engine's, and with some of the tokens traced.

pub(crate) mod calls;
pub(crate) mod duty;
pub(crate) mod graph;
pub(crate) mod planted;
pub(crate) mod routed;
pub(crate) mod rows;
pub(crate) mod small;
