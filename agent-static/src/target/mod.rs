//! The process to trace: finding it, its mapped files, and watching it until its operators are
//! attached.

pub mod catch;
pub mod command;
pub mod maps;
pub mod output;
pub mod process;
pub mod watch;
