//! The only files with `unsafe`: mapping a file, starting a program.

pub mod file;
pub mod spawn;
