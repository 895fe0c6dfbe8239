//! What an engine's files reveal about its structs, its operators and its version.

pub(crate) mod accessors;
pub(crate) mod fitting;
pub(crate) mod layout;
pub(crate) mod tables;
pub(crate) mod uid;
pub(crate) mod version;
