//! What functions are called, and who calls and refers to whom.

pub(crate) mod calls;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod references;
