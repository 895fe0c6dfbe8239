//! Names of functions, and references and calls between them.

pub(crate) mod calls;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod references;
