//! What an engine says of its structs, its operators and itself.

pub(crate) mod accessors;
pub(crate) mod fitting;
pub(crate) mod layout;
pub(crate) mod tables;
pub(crate) mod uid;
pub(crate) mod version;
