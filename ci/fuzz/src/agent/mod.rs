//! The agent's inputs: from its host, the kernel, the system and processes.

pub mod format;
pub mod plan;
pub mod ring;
pub mod system;
