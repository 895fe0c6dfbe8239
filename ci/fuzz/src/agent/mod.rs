//! What the agent reads: of its host, of the kernel, of system and processes.

pub mod format;
pub mod plan;
pub mod ring;
pub mod system;
