//! The process to trace: finding it, its mapped files, and watching it until its operators are
//! attached.

mod archive;
pub mod catch;
pub mod command;
pub mod files;
pub mod maps;
pub mod output;
pub mod process;
pub mod program;
pub mod watch;
