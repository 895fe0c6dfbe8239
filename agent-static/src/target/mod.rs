//! The process to trace: finding it, what it maps, and watching it until the operators are attached.

pub mod catch;
pub mod command;
pub mod maps;
pub mod output;
pub mod process;
pub mod watch;
