//! Makes streams for tests without a line of the wire crate: what both get wrong would have to be got wrong
//! twice, in two ways of writing.

pub(crate) mod bytes;
pub(crate) mod predicted;
pub(crate) mod random;
pub(crate) mod records;
pub(crate) mod session;
pub(crate) mod truth;
