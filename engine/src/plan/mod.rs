//! All files of a process put together.

pub mod describe;
pub(crate) mod examine;
pub(crate) mod strategy;
pub(crate) mod types;
