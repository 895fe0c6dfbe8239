//! The commands, one file or folder each.

pub(crate) mod agent;
pub(crate) mod backends;
pub(crate) mod boards;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod engine;
pub(crate) mod export;
pub(crate) mod findings;
pub(crate) mod fleet;
pub(crate) mod inspect;
pub(crate) mod mcp;
pub(crate) mod predict;
pub(crate) mod push;
pub(crate) mod record;
pub(crate) mod tune;
pub(crate) mod watch;
