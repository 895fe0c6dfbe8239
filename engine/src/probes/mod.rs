//! Where probes go in one file.

pub(crate) mod backend_function;
pub(crate) mod dispatch;
pub(crate) mod evidence;
pub(crate) mod handover;
pub(crate) mod kind;
pub(crate) mod messages;
pub(crate) mod missing;
pub(crate) mod operators;
pub(crate) mod stripped;
pub(crate) mod structure;
